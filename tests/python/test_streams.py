# SPDX-License-Identifier: Apache-2.0
"""Initialisation, devices, contexts, streams, events and notifies."""
import threading

import pytest

import acl
from conftest import Holding, check, run_program, value_of


def test_initialisation_counts_references(tmp_path):
    configuration = tmp_path / "acl.json"
    configuration.write_text("{}")
    run_program(f"""
import acl, pathlib
assert acl.init(pathlib.Path({str(configuration)!r})) == 0
assert acl.init({str(configuration)!r}) == 100002
assert acl.finalize_reference() == (1, 0)
assert acl.finalize() == 0
assert acl.finalize() == 100037
assert acl.init(None) == 0
assert acl.finalize() == 0
assert acl.init("/no/such/file") == 100003
""")


def test_versions_and_attributes():
    assert len(acl.get_version()) == 4
    assert acl.get_version_str("no such package") == ("", 100003)
    attributes, number = value_of(acl.get_cann_attribute_list())
    assert len(attributes) == number > 0
    for attribute in attributes:
        assert value_of(acl.get_cann_attribute(attribute)) in (0, 1)
    assert acl.get_soc_name().startswith("Ascend")
    assert acl.app_log(1, "a line with 100 % of its %s") is None


def test_versions_come_from_the_install_tree(tmp_path):
    folder = tmp_path / "share" / "info" / "cann"
    folder.mkdir(parents=True)
    (folder / "version.info").write_text("Version=12.3.4\n")
    run_program("""
import acl
version, ret = acl.get_cann_version(0)
assert ret == 0, acl.get_recent_err_msg()
assert list(version) == ["version", "major_version", "minor_version", "release_version", "patch_version", "reserved"]
assert (version["version"], version["major_version"], version["minor_version"]) == ("12.3.4", "12", "3"), version
assert acl.get_version_str("cann") == ("12.3.4", 0)
""", ASCEND_HOME_PATH=str(tmp_path))


def test_numbers_of_half_precision():
    assert acl.float16_to_float(acl.float_to_float16(1.5)) == 1.5
    assert acl.data_type_size(0) == 4
    with pytest.raises(OverflowError):
        acl.float16_to_float(1 << 16)
    with pytest.raises(TypeError, match="must be a float, not str"):
        acl.float_to_float16("1")


def test_device(device):
    assert value_of(acl.rt.get_device()) == 0
    assert value_of(acl.rt.get_device_count()) >= 1
    assert value_of(acl.rt.get_run_mode()) == 1
    assert acl.rt.set_device(12345) == 107001
    assert value_of(acl.rt.device_get_stream_priority_range()) == (7, 0)
    assert value_of(acl.rt.get_device_info(0, 601)) == 2201
    uuid = value_of(acl.rt.device_get_uuid(0))["bytes"]
    assert len(uuid) == 16 and all(0 <= byte < 256 for byte in uuid)
    assert set(value_of(acl.rt.get_device_utilization_rate(0))) == {
        "cube_utilization", "vector_utilization", "aicpu_utilization", "memory_utilization", "utilization_extend"}
    assert acl.rt.get_primary_ctx_state(0) == (1, 0, 0)
    check(acl.rt.set_device_res_limit(0, 0, 3))
    assert value_of(acl.rt.get_device_res_limit(0, 0)) == 3
    check(acl.rt.reset_device_res_limit(0))


def test_attribute_of_a_device_is_cut_to_32_bits(device):
    # The memory of a device, 301, has more bits than that.
    value = value_of(acl.rt.get_device_info(0, 301))
    assert -(1 << 31) <= value < 1 << 31


def test_contexts_belong_to_threads(device):
    first = value_of(acl.rt.get_context())
    second = value_of(acl.rt.create_context(0))
    assert value_of(acl.rt.get_context()) == second != first
    seen = []

    def other():
        seen.append(acl.rt.get_context()[1])
        seen.append(acl.rt.set_context(second))
        seen.append(acl.rt.get_context())

    thread = threading.Thread(target=other)
    thread.start()
    thread.join()
    assert seen == [107002, 0, (second, 0)]
    check(acl.rt.ctx_set_sys_param_opt(0, 1))
    assert value_of(acl.rt.ctx_get_sys_param_opt(0)) == 1
    check(acl.rt.destroy_context(second))
    check(acl.rt.set_context(first))


def test_streams(device):
    stream = value_of(acl.rt.create_stream_with_config(3, 1))
    assert value_of(acl.rt.stream_query(stream)) == 0
    assert value_of(acl.rt.stream_get_id(stream)) >= 0
    assert value_of(acl.rt.get_stream_available_num()) > 0
    assert value_of(acl.rt.ctx_get_current_default_stream()) != 0
    check(acl.rt.synchronize_stream(None))
    check(acl.rt.destroy_stream(stream))
    assert acl.rt.destroy_stream(stream) == 107017
    assert acl.rt.synchronize_stream(12345) == 107017


def test_attributes_of_a_stream_are_dicts(stream):
    check(acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": 77}))
    assert value_of(acl.rt.get_stream_attribute(stream, 3)) == {"userCustomTag": 77}
    check(acl.rt.set_stream_attribute(stream, 1, {"failureMode": 1}))
    assert value_of(acl.rt.get_stream_attribute(stream, 1)) == {"failureMode": 1}
    check(acl.rt.set_stream_attribute(stream, 3, {"reserved": [5]}))
    assert value_of(acl.rt.get_stream_attribute(stream, 3)) == {"userCustomTag": 5}
    assert acl.rt.get_stream_attribute(stream, 99) == ({}, acl.rt.get_stream_attribute(stream, 99)[1])
    for wrong in ({}, {"other": 1}, {"reserved": [1] * 5}, {"reserved": 1}):
        with pytest.raises(ValueError, match=r"argument 3 \(value\) has none"):
            acl.rt.set_stream_attribute(stream, 3, wrong)
    with pytest.raises(OverflowError):
        acl.rt.set_stream_attribute(stream, 3, {"userCustomTag": -1})


def test_timeouts_of_a_waiting_stream(stream):
    holding = Holding(stream)
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    assert value_of(acl.rt.stream_query(stream)) == 1
    assert acl.rt.synchronize_device_with_timeout(1) == 507046
    holding.let_go()
    check(acl.rt.synchronize_stream(stream))
    check(acl.rt.synchronize_device())


def test_events_order_streams(stream, other_stream):
    holding = Holding(stream)
    event = value_of(acl.rt.create_event_ex_with_flag(1))
    check(acl.rt.record_event(event, stream))
    check(acl.rt.stream_wait_event(other_stream, event))
    assert value_of(acl.rt.query_event_status(event)) == 0
    assert acl.rt.synchronize_event_with_timeout(event, 1) == 507047
    assert value_of(acl.rt.stream_query(other_stream)) == 1
    holding.let_go()
    check(acl.rt.synchronize_stream(other_stream))
    assert value_of(acl.rt.query_event_status(event)) == 1
    check(acl.rt.destroy_event(event))


def test_events_measure_time(stream):
    begin, end = value_of(acl.rt.create_event_with_flag(8)), value_of(acl.rt.create_event_with_flag(8))
    for event in (begin, end):
        check(acl.rt.record_event(event, stream))
    check(acl.rt.synchronize_event(end))
    elapsed = value_of(acl.rt.event_elapsed_time(begin, end))
    assert isinstance(elapsed, float) and elapsed >= 0
    assert value_of(acl.rt.event_get_timestamp(begin)) <= value_of(acl.rt.event_get_timestamp(end))
    assert value_of(acl.rt.get_event_avail_num()) > 0


def test_notifies_are_reset_in_a_batch(stream, other_stream):
    notifies = [value_of(acl.rt.create_notify(0)) for _ in range(3)]
    for notify in notifies:
        check(acl.rt.record_notify(notify, other_stream))
    check(acl.rt.synchronize_stream(other_stream))
    check(acl.rt.notify_batch_reset(tuple(notifies)))
    check(acl.rt.wait_and_reset_notify(notifies[0], stream, 20))
    assert acl.rt.synchronize_stream_with_timeout(stream, 1) == 507046
    check(acl.rt.record_notify(notifies[0], other_stream))
    check(acl.rt.synchronize_stream(stream))
    assert value_of(acl.rt.get_notify_id(notifies[0])) >= 0
    with pytest.raises(OverflowError):
        acl.rt.wait_and_reset_notify(notifies[0], stream, 1 << 32)
    with pytest.raises(OverflowError):
        acl.rt.wait_and_reset_notify(notifies[0], stream, -1)
    with pytest.raises(TypeError, match=r"argument 1 \(notifies\) must be an int or None, not str"):
        acl.rt.notify_batch_reset(["x"])
    for notify in notifies:
        check(acl.rt.destroy_notify(notify))


def test_failed_group_detail_raises(device):
    with pytest.raises(RuntimeError, match="acl.rt.get_group_info_detail failed with code"):
        acl.rt.get_group_info_detail(None, 0, 0)
