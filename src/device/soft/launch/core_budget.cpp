// SPDX-License-Identifier: Apache-2.0
#include "device/soft/launch/core_budget.h"

#include "device/engine/stream/strand.h"

namespace canopy {

bool CoreBudget::take(Place& place, CoreNeed need) noexcept {
    SpinGuard guard(lock_);
    place.need = need;
    const bool fits = (need.cube == 0 || used_.cube + need.cube <= cores_.cube) &&
                      (need.vector == 0 || used_.vector + need.vector <= cores_.vector);
    if (fits && !first_) {
        used_.cube += need.cube;
        used_.vector += need.vector;
        return true;
    }
    Place** link = &first_;
    while (*link && (*link)->owner.priority() <= place.owner.priority()) link = &(*link)->next;
    place.next = *link;
    *link = &place;
    place.owner.begin_launch_wait();
    return false;
}

// Takes those whose cores are free now out of the line and gives them the cores.
CoreBudget::Place* CoreBudget::take_served() noexcept {
    Place* served = nullptr;
    Place** end = &served;
    while (first_) {
        const CoreNeed need = first_->need;
        if (used_.cube + need.cube > cores_.cube || used_.vector + need.vector > cores_.vector) break;
        used_.cube += need.cube;
        used_.vector += need.vector;
        *end = first_;
        first_ = first_->next;
        (*end)->next = nullptr;
        end = &(*end)->next;
    }
    return served;
}

void CoreBudget::give_back(Place& place) noexcept {
    Place* served = nullptr;
    {
        SpinGuard guard(lock_);
        used_.cube -= place.need.cube;
        used_.vector -= place.need.vector;
        served = take_served();
    }
    serve(served);
}

bool CoreBudget::withdraw(Place& place) noexcept {
    Place* served = nullptr;
    {
        SpinGuard guard(lock_);
        Place** link = &first_;
        while (*link && *link != &place) link = &(*link)->next;
        if (!*link) return false;
        *link = place.next;
        place.next = nullptr;
        served = take_served();  // those behind it may need fewer
    }
    serve(served);
    return true;
}

void CoreBudget::serve(Place* served) noexcept {
    while (served) {
        Place* place = served;
        served = place->next;
        place->next = nullptr;
        place->owner.continue_after_wait(WaitResult::satisfied);
    }
}

}  // namespace canopy
