from kw_oracle import products


def test_every_type_is_named_once_its_products_have_run(capsys):
    products.main()
    assert capsys.readouterr().out.split() == list(products.TYPES)


def test_a_type_that_ends_the_process_is_not_named(capsys, monkeypatch):
    def dies(dtype):
        if dtype is products.torch.bfloat16:
            raise SystemExit

    monkeypatch.setattr(products, "run_in", dies)
    try:
        products.main()
    except SystemExit:
        pass
    assert capsys.readouterr().out.split() == ["float32"]
