// SPDX-License-Identifier: Apache-2.0
// Chains of kernels that alternate between a stream of the leader and a stream of the partner, each released by the
// one before through a notify or an event. The chain is queued completely behind a gate.
#pragma once

#include <array>
#include <vector>

#include "harness/measure.h"
#include "harness/session.h"
#include "processes/partner.h"

namespace bench {

// A process can have 128 records of an event pending, and every second hop is a record of the same one.
inline constexpr std::uint32_t event_hops = 240;

// One end of the chains. Both processes make it in the same order.
class Chain {
public:
    Chain(Session& session, Side side);
    ~Chain();
    Chain(const Chain&) = delete;
    Chain& operator=(const Chain&) = delete;

    // The leader's half: times from the end of a kernel to the start of the next, for `hops` hops.
    std::vector<double> lead_notify(Partner& partner, std::uint32_t hops);
    std::vector<double> lead_event(Partner& partner, std::uint32_t hops);
    void follow_notify(Control& control);
    void follow_event(Control& control);

private:
    void exchange_notifies(Control& control);
    void exchange_events(Control& control);
    void stamp(std::uint32_t index);
    std::vector<double> run(Partner& partner, std::uint32_t hops);
    void report(Control& control);

    Session& session_;
    Side side_;
    Stream stream_, other_;
    DeviceMemory memory_;
    StampClock clock_;
    aclrtFuncHandle stamp_;
    aclrtNotify gate_ = nullptr, own_ = nullptr, theirs_ = nullptr;
    std::array<aclrtEvent, 2> events_{};  // recorded by the leader, by the partner
};

}  // namespace bench
