"""Tests of the choices extension: plans of matrix products."""

from __future__ import annotations

from processes import Vendor

PRODUCT = """
    a, b = (vendor.tensor(np.random.default_rng(k).normal(size=shape).astype("float32"))
            for k, shape in enumerate([(70, 1100), (1100, 90)]))
    wanted = a.numpy().astype("float64") @ b.numpy().astype("float64")
    def product():
        out = vendor.empty((70, 90), "float32")
        vendor.op.Mm(out, a, b)
        return out.numpy()
    def recorded():
        vendor.choices.record()
        product()
        (record,) = vendor.choices.recorded()
        vendor.choices.record(0)
        return record
"""


def test_every_plan_gives_the_product(vendor: Vendor) -> None:
    code = """
    usual, record = product(), recorded()
    assert record.key.point == "product"
    assert {"small", "large", "small/2", "large/4"} <= set(record.choices), record.choices
    before = vendor.choices.statistics()
    for name in record.choices:
        vendor.choices.install({record.key: name})
        np.testing.assert_allclose(product(), wanted, rtol=1e-4, atol=1e-3)
    now = vendor.choices.statistics()
    assert (now.hits - before.hits, now.entries) == (len(record.choices), 1)
    vendor.choices.install({record.key: record.choices[0]})
    assert product().tobytes() == usual.tobytes(), "the first choice is the heuristic's"
    vendor.choices.install({})
    assert product().tobytes() == usual.tobytes()
    """
    vendor.run_on_vendor(PRODUCT + code)


def test_an_unknown_choice_is_rejected_and_the_table_stays(vendor: Vendor) -> None:
    code = """
    from diopi_proto.choices import ChoiceKey
    record = recorded()
    vendor.choices.install({record.key: "small"})
    for wrong in ("huge", "small/", "small/1", "small/x", "large/9999", ""):
        try:
            vendor.choices.install({record.key: wrong})
        except VendorError as error:
            assert f"entry 0 chooses '{wrong}' at 'product'" in str(error), str(error)
        else:
            raise AssertionError(wrong)
    try:
        vendor.choices.install({ChoiceKey("sum", (1,)): "small"})
    except VendorError as error:
        assert "choice point 'sum', which is unknown" in str(error)
    else:
        raise AssertionError
    assert vendor.choices.statistics().entries == 1
    """
    vendor.run_on_vendor(PRODUCT + code)


def test_identity_names_the_device_and_its_driver(vendor: Vendor) -> None:
    code = """
    identity = vendor.choices.identity()
    assert identity.startswith(f"opencl {vendor.version}, ")
    assert vendor.properties().name in identity and ", driver " in identity
    """
    vendor.run_on_vendor(code)
