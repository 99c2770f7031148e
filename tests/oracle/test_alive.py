"""What eager's values take at once."""

from kw_oracle.alive import most_bytes_alive
from kw_oracle.describe import describe
from kw_oracle.loading import load_problem
from kw_oracle.subject import Subject


def alive(path) -> float:
    subject = Subject(load_problem(str(path)))
    return most_bytes_alive(subject, subject.inputs(0))


KILOBYTE = 1024  # an input of 16 x 16 floats


def test_an_operation_keeps_what_it_reads_and_what_it_gives(write):
    assert alive(write(forward="return x + 1", inputs="[torch.randn(16, 16)]")) == KILOBYTE, "inputs do not count"
    assert alive(write(forward="return (x + 1).exp().sin()", inputs="[torch.randn(16, 16)]")) == 2 * KILOBYTE


def test_what_is_read_again_later_stays(write):
    path = write(forward="a = x + 1\nb = a.exp()\nc = b.sin()\nreturn c + a", inputs="[torch.randn(16, 16)]")
    assert alive(path) == 4 * KILOBYTE, "a, b, c and their sum: b's name is still bound"


def test_views_and_work_in_place_take_nothing(write):
    assert alive(write(forward="y = x + 1\ny.relu_()\nreturn y.view(16, 4, 4)", inputs="[torch.randn(16, 16)]")) == KILOBYTE


def test_weights_do_not_count(write):
    path = write(forward="return self.a(x)", init="self.a = nn.Linear(16, 64)", inputs="[torch.randn(16, 16)]")
    assert alive(path) == 4 * KILOBYTE


def test_it_is_part_of_the_description(write):
    described = describe(str(write(forward="return torch.relu(x) * 2", inputs="[torch.randn(16, 16)]")), lambda _text: None)
    assert described["eager_bytes"] == 2 * KILOBYTE
