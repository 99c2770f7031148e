"""Operation counts: exact for products and convolutions."""

import pytest

CASES = [
    ("return a @ b", "[torch.randn(4, 8), torch.randn(8, 6)]", 2 * 4 * 8 * 6),
    ("return torch.mm(a, b)", "[torch.randn(4, 8), torch.randn(8, 6)]", 2 * 4 * 8 * 6),
    ("return torch.bmm(a, b)", "[torch.randn(3, 4, 8), torch.randn(3, 8, 6)]", 2 * 3 * 4 * 8 * 6),
    ("return torch.einsum('bij,jk->bik', a, b)", "[torch.randn(3, 4, 8), torch.randn(8, 6)]", 2 * 3 * 4 * 8 * 6),
    ("return F.linear(a, b)", "[torch.randn(4, 8), torch.randn(6, 8)]", 2 * 4 * 8 * 6),
    ("return F.linear(a, b, a[:, 0][:1])", "[torch.randn(4, 8), torch.randn(6, 8)]", 2 * 4 * 8 * 6 + 24),
    ("return F.conv2d(a, b, padding=1, groups=2)", "[torch.randn(2, 4, 5, 5), torch.randn(6, 2, 3, 3)]",
     2 * 2 * 6 * 25 * 2 * 9),
    ("return F.conv_transpose2d(a, b, stride=2)", "[torch.randn(2, 4, 5, 5), torch.randn(4, 6, 3, 3)]",
     2 * 2 * 4 * 25 * 6 * 9),
    ("return torch.ops.aten.convolution(a, b, None, [1], [0], [1], False, [0], 1)",
     "[torch.randn(2, 4, 7), torch.randn(6, 4, 3)]", 2 * 2 * 6 * 5 * 4 * 3),
    ("return a + b", "[torch.randn(4, 8), torch.randn(8)]", 32),
    ("return a.sum(1)", "[torch.randn(4, 8), torch.randn(8)]", 32),
    ("return a.t().reshape(2, 16)", "[torch.randn(4, 8), torch.randn(8)]", 0),
    ("return F.max_pool2d(a, 2)", "[torch.randn(1, 1, 4, 4), torch.randn(8)]", 16),
    ("return F.avg_pool3d(a, 2)", "[torch.randn(1, 1, 4, 4, 4), torch.randn(8)]", 64),
]


@pytest.mark.parametrize("forward, inputs, expected", CASES)
def test_counts(described, forward, inputs, expected):
    result = described(forward=forward, arguments="a, b", inputs=inputs)
    assert result["graph_error"] == "" and result["flops"] == expected


def test_attention_counts_both_products(described):
    result = described(forward="return F.scaled_dot_product_attention(x, x, x)", inputs="[torch.randn(2, 3, 5, 8)]")
    products = 2 * 2 * (2 * 3 * 5 * 5 * 8)
    assert products < result["flops"] < 2 * products
