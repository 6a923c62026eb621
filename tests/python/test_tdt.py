# SPDX-License-Identifier: Apache-2.0
"""Queues, buffers, routes and channels of the module acl."""
import threading

import acl
import numpy as np
import pytest

import other_process
from conftest import check, value_of
from other_process import OtherProcess

MANAGE, DEQUEUE, ENQUEUE = 1, 2, 4
NAME, DEPTH = 0, 1
EMPTY, FULL, INVALID, UNKNOWN_QUEUE = 207013, 207014, 100000, 100032
TENSOR, END_OF_SEQUENCE = 0, 1
FLOAT, UINT8, INT64 = 0, 4, 9


@pytest.fixture(scope="module")
def other():
    process = OtherProcess()
    yield process
    process.close()


@pytest.fixture
def new_queue(device):
    """Creates queues that are destroyed after the test."""
    numbers = []

    def create(depth=4, name=None):
        attributes = acl.tdt.create_queue_attr()
        check(acl.tdt.set_queue_attr(attributes, DEPTH, depth))
        if name is not None:
            check(acl.tdt.set_queue_attr(attributes, NAME, name))
        numbers.append(value_of(acl.tdt.create_queue(attributes)))
        check(acl.tdt.destroy_queue_attr(attributes))
        return numbers[-1]

    yield create
    for number in numbers:
        acl.tdt.destroy_queue(number)
    acl.get_recent_err_msg()


@pytest.fixture
def queue(new_queue):
    return new_queue()


def buffer_with(data, user=b""):
    buffer = value_of(acl.tdt.alloc_buf(len(data), 0))
    address, capacity = value_of(acl.tdt.get_buf_data(buffer))
    assert capacity >= len(data)
    acl.util.ptr_to_numpy(address, (len(data),), np.dtype(np.uint8).num)[:] = list(data)
    check(acl.tdt.set_buf_data_len(buffer, len(data)))
    check(acl.tdt.set_buf_user_data(buffer, user, len(user), 0))
    return buffer


def content(buffer):
    address, _ = value_of(acl.tdt.get_buf_data(buffer))
    return acl.util.ptr_to_bytes(address, value_of(acl.tdt.get_buf_data_len(buffer)))


def test_attributes_of_a_queue_are_a_name_and_a_depth():
    attributes = acl.tdt.create_queue_attr()
    assert acl.tdt.get_queue_attr(attributes, NAME) == ("", 0)
    assert acl.tdt.get_queue_attr(attributes, DEPTH) == (8, 0)
    check(acl.tdt.set_queue_attr(attributes, NAME, "a name"))
    check(acl.tdt.set_queue_attr(attributes, DEPTH, 64))
    assert acl.tdt.get_queue_attr(attributes, NAME) == ("a name", 0)
    assert acl.tdt.get_queue_attr(attributes, DEPTH) == (64, 0)
    assert acl.tdt.get_queue_attr(attributes, 7) == (None, INVALID)
    assert acl.tdt.set_queue_attr(attributes, 7, 1) == INVALID
    assert acl.tdt.set_queue_attr(attributes, NAME, "n" * 128) == INVALID
    with pytest.raises(TypeError, match="a str if type is 0, not int"):
        acl.tdt.set_queue_attr(attributes, NAME, 5)
    with pytest.raises(TypeError, match="an int unless type is 0, not str"):
        acl.tdt.set_queue_attr(attributes, DEPTH, "5")
    check(acl.tdt.destroy_queue_attr(attributes))
    assert acl.tdt.get_queue_attr(attributes, NAME) == (None, INVALID)
    assert acl.tdt.set_queue_attr(attributes, DEPTH, 4) == INVALID


def test_data_goes_through_a_queue(queue):
    for number in range(4):
        check(acl.tdt.enqueue_data(queue, np.full(100, number), 800, bytes([number]), 1, 0, 0))
    assert acl.tdt.enqueue_data(queue, b"5", 1, None, 0, 1, 0) == FULL
    found, user = np.zeros(100, np.int64), bytearray(96)
    assert acl.tdt.dequeue_data(queue, bytearray(10), 10, None, 0, 0) == (800, 107000)
    for number in range(4):
        assert acl.tdt.dequeue_data(queue, found, 800, user, 96, 0) == (800, 0)
        assert np.all(found == number) and user[0] == number
    assert acl.tdt.dequeue_data(queue, found, 800, None, 0, 1) == (0, EMPTY)


def test_memory_that_is_too_small_is_refused(queue):
    with pytest.raises(ValueError, match="argument 2 .* holds 3 bytes, but the call says 4"):
        acl.tdt.enqueue_data(queue, b"123", 4, None, 0, 0, 0)
    with pytest.raises(ValueError, match="argument 4 .* holds 3 bytes, but the call says 4"):
        acl.tdt.dequeue_data(queue, bytearray(8), 8, bytearray(3), 4, 0)
    with pytest.raises(ValueError, match="read-only"):
        acl.tdt.dequeue_data(queue, bytes(8), 8, None, 0, 0)


def test_buffers_change_their_owner(queue):
    buffer = buffer_with(b"some data", b"about it")
    check(acl.tdt.enqueue(queue, buffer, 0))
    assert acl.tdt.get_buf_data_len(buffer)[1] == 107017
    taken = value_of(acl.tdt.dequeue(queue, 0))
    user = bytearray(8)
    check(acl.tdt.get_buf_user_data(taken, user, 8, 0))
    assert content(taken) == b"some data" and user == b"about it"
    assert acl.tdt.get_buf_user_data(taken, bytearray(8), 8, 90) == INVALID
    check(acl.tdt.free_buf(taken))
    assert acl.tdt.free_buf(taken) == 107017
    assert acl.tdt.dequeue(queue, 0) == (0, EMPTY)
    assert acl.tdt.alloc_buf(0, 0) == (0, INVALID)


@pytest.mark.parametrize("part", [acl.rt, acl.tdt])
def test_buffers_form_chains(part):
    head = value_of(part.alloc_buf(8) if part is acl.rt else part.alloc_buf(8, 0))
    second = value_of(part.copy_buf_ref(head))
    assert value_of(part.get_buf_data(second))[0] == value_of(part.get_buf_data(head))[0]
    assert part.set_buf_data_len(head, 9) == 107000
    check(part.set_buf_data_len(head, 8))
    check(part.set_buf_user_data(head, b"user", 4, 92))
    user = bytearray(4)
    check(part.get_buf_user_data(head, user, 4, 92))
    assert user == b"user" and value_of(part.get_buf_data_len(head)) == 8
    check(part.append_buf_chain(head, second))
    assert value_of(part.get_buf_chain_num(head)) == 2
    assert value_of(part.get_buf_from_chain(head, 1)) == second
    assert part.get_buf_from_chain(head, 2) == (0, 107000)
    check(part.free_buf(head))
    assert part.free_buf(second) == 107017


def test_a_thread_that_waits_lets_others_run(queue):
    """With the lock of the interpreter held, nobody could put the data in."""
    thread = threading.Thread(target=lambda: acl.rt.set_device(0) or acl.tdt.enqueue_data(queue, b"1", 1, None, 0, -1, 0))
    room = bytearray(8)
    thread.start()
    assert acl.tdt.dequeue_data(queue, room, 8, None, 0, 20000) == (1, 0)
    thread.join()
    taken = []
    waiting = threading.Thread(target=lambda: taken.append(acl.tdt.dequeue(queue, 20000)))
    waiting.start()
    check(acl.tdt.enqueue(queue, buffer_with(b"2"), 20000))
    waiting.join()
    assert content(taken[0][0]) == b"2"
    check(acl.tdt.free_buf(taken[0][0]))


def test_queues_are_granted_and_attached(queue, other):
    assert acl.tdt.grant_queue(queue, other.pid, 0, 0) == INVALID
    assert other.run(other_process.call, "tdt.attach_queue", queue, 0) == (0, 207006)
    check(acl.tdt.grant_queue(queue, other.pid, ENQUEUE, 0))
    assert other.run(other_process.call, "tdt.attach_queue", queue, 1000) == (ENQUEUE, 0)
    assert other.run(other_process.call, "tdt.enqueue_data", queue, b"from there", 10, None, 0, 0, 0) == 0
    assert other.run(other_process.call, "tdt.dequeue", queue, 0) == (0, 207006)
    taken = value_of(acl.tdt.dequeue(queue, 20000))
    assert content(taken) == b"from there"
    check(acl.tdt.free_buf(taken))
    check(acl.tdt.destroy_queue(queue))
    assert acl.tdt.destroy_queue(queue) == UNKNOWN_QUEUE


def test_routes_connect_queues(new_queue):
    source, target = new_queue(), new_queue()
    route, routes = acl.tdt.create_queue_route(source, target), acl.tdt.create_queue_route_list()
    assert [acl.tdt.get_queue_route_param(route, kind) for kind in range(3)] == [(source, 0), (target, 0), (0, 0)]
    assert acl.tdt.get_queue_route_param(route, 3)[1] == INVALID
    check(acl.tdt.add_queue_route(routes, route))
    check(acl.tdt.bind_queue_routes(routes))
    check(acl.tdt.get_queue_route(routes, 0, route))
    assert acl.tdt.get_queue_route_param(route, 2) == (1, 0)
    assert acl.tdt.get_queue_route(routes, 1, route) == INVALID
    check(acl.tdt.enqueue_data(source, b"on its way", 10, None, 0, 0, 0))
    room = bytearray(10)
    assert acl.tdt.dequeue_data(target, room, 10, None, 0, 20000) == (10, 0) and room == b"on its way"

    search, found = acl.tdt.create_queue_route_query_info(), acl.tdt.create_queue_route_list()
    assert acl.tdt.query_queue_routes(search, found) == INVALID
    check(acl.tdt.set_queue_route_query_info(search, 0, 1))
    check(acl.tdt.set_queue_route_query_info(search, 2, target))
    assert acl.tdt.set_queue_route_query_info(search, 0, 50) == INVALID
    check(acl.tdt.query_queue_routes(search, found))
    assert acl.tdt.get_queue_route_num(found) == 1
    assert acl.tdt.destroy_queue(source) == 500000
    check(acl.tdt.unbind_queue_routes(routes))
    check(acl.tdt.query_queue_routes(search, found))
    assert acl.tdt.get_queue_route_num(found) == 0
    for code in (acl.tdt.destroy_queue_route(route), acl.tdt.destroy_queue_route_list(routes),
                 acl.tdt.destroy_queue_route_list(found), acl.tdt.destroy_queue_route_query_info(search)):
        check(code)


def test_tensors_go_through_a_channel(device):
    channel = acl.tdt.create_channel_with_capacity(0, "of the Python tests", 2)
    assert channel and acl.tdt.create_channel_with_capacity(0, "of the Python tests", 2) == 0
    assert acl.tdt.create_channel_with_capacity(0, "another", 1) == 0
    data = np.arange(6, dtype=np.float32).reshape(2, 3)
    item = acl.tdt.create_data_item(TENSOR, [2, 3], FLOAT, data, data.nbytes)
    end = acl.tdt.create_data_item(END_OF_SEQUENCE, [], INT64, None, 0)
    assert acl.tdt.create_data_item(END_OF_SEQUENCE, [1], INT64, None, 0) == 0
    check(acl.tdt.destroy_data_item(acl.tdt.create_data_item(TENSOR, [3], UINT8, b"123", 3)))
    sent = acl.tdt.create_dataset()
    check(acl.tdt.add_data_item(sent, item))
    check(acl.tdt.add_data_item(sent, end))
    assert (acl.tdt.get_dataset_size(sent), acl.tdt.get_dataset_name(sent)) == (2, "")
    assert acl.tdt.get_data_item(sent, 0) == item and acl.tdt.get_data_item(sent, 2) == 0
    check(acl.tdt.send_tensor(channel, sent, 0))
    check(acl.tdt.send_tensor(channel, sent, 0))
    assert acl.tdt.send_tensor(channel, sent, 0) == FULL
    assert acl.tdt.query_channel_size(channel) == (2, 0)

    received = acl.tdt.create_dataset()
    check(acl.tdt.receive_tensor(channel, received, 0))
    tensor, mark = acl.tdt.get_data_item(received, 0), acl.tdt.get_data_item(received, 1)
    assert acl.tdt.get_tensor_type_from_item(tensor) == TENSOR
    assert acl.tdt.get_tensor_type_from_item(mark) == END_OF_SEQUENCE
    assert acl.tdt.get_data_type_from_item(tensor) == FLOAT
    assert acl.tdt.get_dim_num_from_item(tensor) == 2
    assert acl.tdt.get_dims_from_item(tensor, 2) == ([2, 3], 0)
    assert acl.tdt.get_dims_from_item(tensor, 128) == ([2, 3], 0)
    assert acl.tdt.get_dims_from_item(tensor, 1) == ([], INVALID)
    assert acl.tdt.get_dims_from_item(mark, 0) == ([], 0)
    with pytest.raises(ValueError, match="above 128"):
        acl.tdt.get_dims_from_item(tensor, 129)
    assert acl.tdt.get_slice_info_from_item(tensor) == (0, 0, 0)
    size = acl.tdt.get_data_size_from_item(tensor)
    values = acl.util.ptr_to_bytes(acl.tdt.get_data_addr_from_item(tensor), size)
    assert values == data.tobytes()

    check(acl.tdt.clean_channel(channel))
    assert acl.tdt.receive_tensor(channel, received, 0) == EMPTY
    check(acl.tdt.stop_channel(channel))
    for code in (acl.tdt.destroy_channel(channel), acl.tdt.destroy_dataset(received), acl.tdt.destroy_dataset(sent),
                 acl.tdt.destroy_data_item(item), acl.tdt.destroy_data_item(end)):
        check(code)
    assert acl.tdt.destroy_channel(channel) == 107017


def test_old_channels_send_or_receive(device):
    channel = acl.tdt.create_channel(0, "an old channel")
    sent = acl.tdt.create_dataset()
    assert acl.tdt.query_channel_size(channel) == (0, 200006)
    assert acl.tdt.receive_tensor(channel, sent, -1) == INVALID
    check(acl.tdt.destroy_channel(channel))
    check(acl.tdt.destroy_dataset(sent))
