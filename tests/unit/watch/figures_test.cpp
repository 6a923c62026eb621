// SPDX-License-Identifier: Apache-2.0
// Figures that one process tells and another reads: what arrives is what was told; what is torn, forged or left behind
// is refused.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "foundation/files.h"
#include "foundation/hash.h"
#include "foundation/run_folder.h"
#include "watch/figures_file.h"
#include "watch/processes.h"

namespace canopy::watch {
namespace {

class Figures : public testing::Test {
protected:
    void SetUp() override {
        auto made = TemporaryFolder::create("figures");
        ASSERT_TRUE(made.ok()) << made.message();
        place_.emplace(std::move(*made));
        if (const char* old = getenv("XDG_RUNTIME_DIR")) before_ = old;
        setenv("XDG_RUNTIME_DIR", place_->path().c_str(), 1);
    }
    void TearDown() override {
        if (before_)
            setenv("XDG_RUNTIME_DIR", before_->c_str(), 1);
        else
            unsetenv("XDG_RUNTIME_DIR");
    }

    // Runs `body` in a process that lives until the returned function is called.
    std::function<void()> in_other_process(const std::function<void()>& body) {
        int ready[2], end[2];
        EXPECT_EQ(pipe(ready), 0);
        EXPECT_EQ(pipe(end), 0);
        const pid_t child = fork();
        if (child == 0) {
            close(end[1]);
            body();
            char byte = 1;
            if (write(ready[1], &byte, 1) != 1) _exit(1);
            while (read(end[0], &byte, 1) > 0) {
            }
            _exit(0);
        }
        close(end[0]);
        close(ready[1]);
        char byte = 0;
        EXPECT_EQ(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        other_ = child;
        return [child, pipe_end = end[1]] {
            kill(child, SIGKILL);
            close(pipe_end);
            int status = 0;
            waitpid(child, &status, 0);
        };
    }

    [[nodiscard]] std::string folder() const { return run_folder_path(); }
    [[nodiscard]] std::string only_file() const {
        for (const auto& entry : std::filesystem::directory_iterator(folder())) return entry.path().string();
        return {};
    }

    std::optional<TemporaryFolder> place_;
    std::optional<std::string> before_;
    pid_t other_ = 0;
};

void tell_known_figures() {
    auto file = FiguresFile::create("known\033[2Jname");
    if (!file.ok()) _exit(2);
    FiguresFile* made = file->release();
    DevicePage* page = made->add_device(1, 5);
    if (!page) _exit(3);
    DeviceFigures device;
    device.time = now();
    device.workers = 4;
    device.memory = 1000;
    device.submitted = 30;
    device.completed = 10;
    device.streams = 1;
    set_text(device.kind, "soft", 4);
    set_text(device.chip, "Ascend910B1", 11);
    StreamFigures stream;
    stream.id = 7;
    stream.state = StreamState::waiting;
    stream.waits_for = WaitsFor::event;
    stream.submitted = 30;
    stream.completed = 10;
    RunningFigures running;
    running.thread = 99;
    running.stream = 7;
    set_text(running.name, "matmul", 6);
    page->set_memory(600, 700, 3);
    page->publish(device, {&stream, 1}, {&running, 1});
}

TEST_F(Figures, ArriveAsTheyWereTold) {
    const auto end = in_other_process(tell_known_figures);
    const std::vector<Process> processes = read_processes(folder());
    ASSERT_EQ(processes.size(), 1u);
    EXPECT_EQ(processes[0].id, other_);
    EXPECT_EQ(processes[0].name, "known?[2Jname");
    ASSERT_EQ(processes[0].devices.size(), 1u);
    const Device& device = processes[0].devices[0];
    EXPECT_EQ(device.figures.index, 1u);
    EXPECT_EQ(device.figures.physical, 5u);
    EXPECT_STREQ(device.figures.chip, "Ascend910B1");
    EXPECT_EQ(device.memory_used, 600u);
    EXPECT_EQ(device.memory_peak, 700u);
    ASSERT_EQ(device.streams.size(), 1u);
    EXPECT_EQ(device.streams[0].id, 7);
    EXPECT_EQ(device.streams[0].waits_for, WaitsFor::event);
    ASSERT_EQ(device.running.size(), 1u);
    EXPECT_STREQ(device.running[0].name, "matmul");
    struct stat facts {};
    ASSERT_EQ(stat(only_file().c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777u, 0600u);
    end();
}

TEST_F(Figures, OfAKilledProcessAreRemoved) {
    in_other_process(tell_known_figures)();
    EXPECT_FALSE(only_file().empty());
    EXPECT_TRUE(read_processes(folder()).empty());
    EXPECT_EQ(only_file(), "");
}

TEST_F(Figures, ThatNobodyCompletedAreRemovedLater) {
    ASSERT_TRUE(run_folder().ok());
    const std::string path = folder() + "/figures.1.1.new";
    std::ofstream(path) << "half";
    EXPECT_TRUE(read_processes(folder()).empty());
    EXPECT_EQ(only_file(), path);
    std::filesystem::last_write_time(path, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    EXPECT_TRUE(read_processes(folder()).empty());
    EXPECT_EQ(only_file(), "");
}

TEST_F(Figures, OfAForkedChildAreNotThoseOfItsParent) {
    int life[2];
    ASSERT_EQ(pipe(life), 0);
    const auto end = in_other_process([&] {
        tell_known_figures();
        close(life[1]);
        if (fork() != 0) return;
        char byte = 0;  // the child has the same memory and descriptors, and ends when the pipe does
        static_cast<void>(!read(life[0], &byte, 1));
        _exit(0);
    });
    EXPECT_EQ(read_processes(folder()).size(), 1u);
    end();  // the child still lives
    EXPECT_TRUE(read_processes(folder()).empty());
    close(life[0]);
    close(life[1]);
}

TEST_F(Figures, AChildDoesNotWriteIntoThePageOfItsParent) {
    const auto end = in_other_process([] {
        auto file = FiguresFile::create("parent");
        DevicePage* page = file.ok() ? (*file).release()->add_device(0, 0) : nullptr;
        if (!page) _exit(2);
        page->set_memory(1, 1, 1);
        DeviceFigures device;
        page->publish(device, {}, {});
        const pid_t child = fork();
        if (child == 0) {
            page->set_memory(2, 2, 2);
            page->publish(device, {}, {});
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (status != 0) _exit(3);
    });
    const std::vector<Process> processes = read_processes(folder());
    ASSERT_EQ(processes.size(), 1u);
    ASSERT_EQ(processes[0].devices.size(), 1u);
    EXPECT_EQ(processes[0].devices[0].memory_used, 1u);
    end();
}

TEST_F(Figures, ThatAreForgedAreRefused) {
    ASSERT_TRUE(run_folder().ok());
    const std::string path = folder() + "/figures.1.1";
    const auto refused = [&](const std::string& content, const std::string& words) {
        std::ofstream(path, std::ios::binary) << content;
        const auto process = read_process(path);
        ASSERT_FALSE(process.ok());
        EXPECT_NE(process.message().find(words), std::string::npos) << process.message();
    };
    refused("", "no header");
    refused(std::string(90, 'x'), "no header");
    refused(std::string(100000, 'x'), "no file with figures");
    ProcessHeader header;
    header.signature = signature;
    header.version = version + 1;
    const auto text = [&] { return std::string(reinterpret_cast<const char*>(&header), sizeof header); };
    refused(text(), "another release");
    header.version = version;
    refused(text(), "damaged");
    header.process = 1;
    header.checksum = hash_of(std::as_bytes(std::span(&header, 1)).first(offsetof(ProcessHeader, checksum)));
    refused(text(), "has ended");
    // A file that somebody else holds than it says.
    const auto end = in_other_process([&] {
        const int file = open(path.c_str(), O_RDWR);
        struct flock lock {};
        lock.l_type = F_WRLCK;
        if (file < 0 || fcntl(file, F_SETLK, &lock) != 0) _exit(1);
    });
    const auto process = read_process(path);
    ASSERT_FALSE(process.ok());
    EXPECT_NE(process.message().find("another process holds it"), std::string::npos) << process.message();
    end();
}

TEST_F(Figures, InThingsThatAreNoFilesAreRefused) {
    ASSERT_TRUE(run_folder().ok());
    const std::string base = folder() + "/figures.";
    ASSERT_EQ(mkfifo((base + "1.1").c_str(), 0600), 0);
    std::filesystem::create_directory(base + "2.2");
    std::filesystem::create_symlink("/etc/passwd", base + "3.3");
    EXPECT_TRUE(read_processes(folder()).empty());
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 3);
}

TEST_F(Figures, AreReadWholeWhileTheyChange) {
    const auto end = in_other_process([] {
        auto file = FiguresFile::create("busy");
        DevicePage* page = file.ok() ? (*file).release()->add_device(0, 0) : nullptr;
        if (!page) _exit(2);
        DeviceFigures device;
        page->publish(device, {}, {});
        std::thread([page] {
            DeviceFigures changing;
            std::vector<StreamFigures> streams(most_streams);
            for (std::uint64_t turn = 1;; ++turn) {
                changing.submitted = turn;
                for (StreamFigures& stream : streams) stream.submitted = turn;
                page->publish(changing, std::span(streams).first(turn % most_streams), {});
            }
        }).detach();
    });
    std::uint64_t whole = 0, last = 0;
    for (int turn = 0; turn < 200 || last < 2; ++turn) {
        const std::vector<Process> processes = read_processes(folder());
        ASSERT_EQ(processes.size(), 1u);
        if (processes[0].devices.empty()) continue;  // caught in the middle each time
        const Device& device = processes[0].devices[0];
        ++whole;
        EXPECT_GE(device.figures.submitted, last);
        last = device.figures.submitted;
        for (const StreamFigures& stream : device.streams) EXPECT_EQ(stream.submitted, last);
    }
    EXPECT_GT(whole, 0u);
    end();
}

TEST_F(Figures, NeedAFolderOfTheUserAlone) {
    const std::string path = folder();
    std::ofstream(path) << "a file";
    EXPECT_NE(run_folder().message().find("is not a folder"), std::string::npos);
    EXPECT_FALSE(FiguresFile::create("name").ok());
    std::filesystem::remove(path);
    std::filesystem::create_directory(path);
    chmod(path.c_str(), 0755);
    EXPECT_NE(run_folder().message().find("open to other users"), std::string::npos);
    std::filesystem::remove(path);
    std::filesystem::create_symlink("/tmp", path);
    EXPECT_FALSE(run_folder().ok());
    std::filesystem::remove(path);
    setenv("XDG_RUNTIME_DIR", "/nowhere/at/all", 1);
    EXPECT_FALSE(run_folder().ok());
    EXPECT_TRUE(read_processes(run_folder_path()).empty());
}

}  // namespace
}  // namespace canopy::watch
