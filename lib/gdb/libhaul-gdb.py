# SPDX-License-Identifier: BSD-3-Clause
"""gdb commands for haul: the coroutines of a live process or of a core.

  haul list [NAME]              lists coroutines: all, or those of that name
  haul bt WHICH | all           prints their call stacks
  haul switch WHICH             selects a coroutine, for bt, up, down, frame and info locals
  haul switch back              selects the thread again

WHICH is a number as haul list prints it (#4), which holds until the process continues; an address,
which may be any expression; or a name.

gdb loads this file with libhaul.so. For a program that is linked with libhaul.a: source FILE. For
a process in another mount namespace (ip netns exec): set sysroot / before gdb attaches to it.

How it works. gdb knows the stacks of threads only. While a coroutine is selected, an unwinder says
that the caller of the selected thread's innermost frame is the coroutine's suspended context. So
this works in a core too, and no register of a process changes. A frame filter leaves the thread's
own frame out of back traces. The selection ends when the process continues. haul's structs are read
by the names of their fields in the debug information.
"""
import itertools
import os
import re

import gdb
import gdb.frames
import gdb.unwinder

# By architecture: the registers that a context holds.
REGISTERS = {
    "i386:x86-64": {"sp": "rsp", "fp": "rbp", "pc": "rip", "base": "rbx"},
    "aarch64": {"sp": "sp", "fp": "x29", "pc": "pc", "base": "x19"},
}
# While a coroutine is selected gdb must not stop at the thread's frame because that is main()'s.
LIMITS = ("backtrace past-main", "backtrace past-entry")
STATE_PREFIX = "HAULI_CORO_"
OVERRUN = 1 << 20  # bytes below its stack where an overrun may be, as in coro/overflow.c
MOST_CHOICES = 20  # that haul switch lists for a name


def word(value):
    """The number in a struct that wraps one, such as struct hauli_ptr_published."""
    while value.type.strip_typedefs().code == gdb.TYPE_CODE_STRUCT:
        value = value[value.type.fields()[0]]
    return int(value)


def symbol_at(address):
    """" <mutex>" for the address of a variable, "" if it has no name."""
    text = gdb.execute("info symbol %#x" % address, to_string=True)
    name = text.partition(" in section ")[0] if " in section " in text else ""
    return " <%s>" % name.replace(" ", "") if name else ""


def callee(frame):
    """The name of the public function that the frame's function calls, read from the call
    instruction: the frames do not show it if it has jumped to another one. None if unknown."""
    size = 4 if frame.architecture().name() == "aarch64" else 5  # bytes of the call
    try:
        code = frame.architecture().disassemble(frame.pc() - size)[0]["asm"]
    except gdb.error:
        return None
    found = re.search(r"<(haul_\w+)(?:@plt)?>", code)
    return found.group(1) if found else None


def offset_of(struct, name):
    return next(f for f in struct.fields() if f.name == name).bitpos // 8


class Selected(gdb.unwinder.Unwinder):
    """Makes a suspended context the caller of a thread's innermost frame."""

    def __init__(self):
        super().__init__("haul")
        self.enabled = False

    def select(self, ctx):
        """Selects the first frame of the context, a struct hauli_ctx."""
        self.drop()
        frame = gdb.newest_frame()
        names = REGISTERS.get(frame.architecture().name())
        if names is None:
            raise gdb.GdbError("haul does not know the registers of " + frame.architecture().name())
        self.names = names
        self.top = self.registers(frame)
        self.context = {field: int(ctx[field]) for field in names}
        # gdb looks up the code of a caller one byte before its return address. A suspended context
        # goes on at pc itself.
        self.context["pc"] += 1
        self.enabled = True
        self.limits = [(limit, gdb.parameter(limit)) for limit in LIMITS]
        self.set_limits([(limit, True) for limit in LIMITS])
        gdb.invalidate_cached_frames()
        self.first().select()

    def set_limits(self, limits):
        for limit, on in limits:
            gdb.execute("set %s %s" % (limit, "on" if on else "off"), to_string=True)

    def registers(self, frame):
        return tuple(int(frame.read_register(self.names[name])) for name in ("sp", "pc"))

    def __call__(self, frame):
        if self.registers(frame) != self.top:
            return None
        types = {name: frame.read_register(self.names[name]).type for name in self.names}
        values = {name: gdb.Value(self.context[name]).cast(types[name]) for name in self.names}
        # Below the context's frames, because gdb takes a caller with a lower address as an error.
        info = frame.create_unwind_info(Place(values["sp"] - 16, values["pc"]))
        for name, register in self.names.items():
            info.add_saved_register(register, values[name])
        return info

    def first(self):
        frame = gdb.newest_frame()
        while frame.type() == gdb.INLINE_FRAME:
            frame = frame.older()
        if frame.older() is None:
            raise gdb.GdbError("gdb cannot unwind it: " + gdb.frame_stop_reason_string(
                frame.unwind_stop_reason()))
        return frame.older()

    def is_shown(self):
        """True if the selected thread is the one in which the coroutine was selected."""
        return self.enabled and self.registers(gdb.newest_frame()) == self.top

    def restore(self, before):
        """Sets what __dict__ was before."""
        self.__dict__.update(before)
        if self.enabled:
            self.set_limits([(limit, True) for limit in LIMITS])
        gdb.invalidate_cached_frames()

    def drop(self):
        if self.enabled:
            self.enabled = False
            self.set_limits(self.limits)
            gdb.invalidate_cached_frames()


class Place:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class Filter:
    """Leaves the frames of the thread out of a selected coroutine's back trace."""
    name, priority, enabled = "haul", 100, True

    def filter(self, frames):
        if not selected.is_shown():
            return frames
        level = selected.first().level()
        return itertools.dropwhile(lambda f: f.inferior_frame().level() < level, frames)


class Coroutine:
    """A struct haul_coro."""

    def __init__(self, haul, value, number):
        self.haul, self.value, self.number = haul, value, number
        self.address = int(value.address)
        self.state = haul.state_of(word(value["state"]))
        self.stack = value["co"]["stack"]

    def name(self):
        return self.value["co"]["name"].string(errors="replace")

    def thread(self):
        """The thread that runs it, or None."""
        if int(self.stack) == 0:
            return None
        hi = int(self.stack)
        lo = hi - int(self.stack["bytes"])
        runs = self.haul.running().get(self.address)
        return next((t for t, sp in self.haul.threads()
                     if (lo - OVERRUN if t.ptid[1] == runs else lo) <= sp < hi), None)

    def is_suspended(self):
        return int(self.stack) != 0 and self.state != "ended" and self.thread() is None

    def pcs(self):
        """The call stack that it has with it while it hibernates, else None."""
        ctx = self.value["co"]["ctx"]
        if int(self.stack) == 0 or int(ctx["pc"]) != self.haul.thaw():
            return None
        at = ctx["base"].cast(gdb.lookup_type("struct hauli_frozen").pointer())["at"]
        return [int(at["pcs"][i]) for i in range(int(at["n"]))]

    def line(self):
        home = word(self.value["home"])
        carrier = "carrier %d" % self.haul.carrier(home)["id"] if home else "no carrier"
        return "#%d %s: %s %#x, %s" % (self.number, carrier, self.name(), self.address,
                                       self.what())

    def what(self):
        thread = self.thread()
        if thread is not None:
            return "running in thread %d" % thread.num
        if self.state == "ended":
            return "ended, not joined"
        if int(self.stack) == 0:
            return "%s, has not begun %s" % (self.state, self.function())
        pcs = self.pcs()
        if pcs:
            return self.state + ", hibernates" + self.where_of(pcs)
        return self.state + self.whom() + self.where()

    def where_of(self, pcs):
        """As where(), of the call stack of one that hibernates."""
        call = None
        for pc in pcs:
            name, sal = self.haul.name_of(pc), gdb.find_pc_line(pc)
            if sal.symtab is None or not self.haul.is_own(sal.symtab):
                at = " at %s:%d" % (sal.symtab.filename, sal.line) if sal.symtab else ""
                return ", in %s() by %s()%s" % (call, name, at) if call else ""
            call = name
        return ""

    def print_frozen(self, pcs):
        for i, pc in enumerate(pcs):
            sal = gdb.find_pc_line(pc)
            at = " at %s:%d" % (sal.symtab.filename, sal.line) if sal.symtab else ""
            gdb.write("#%-2d %#018x in %s ()%s\n" % (i, pc, self.haul.name_of(pc), at))

    def function(self):
        return self.haul.name_of(int(self.value["fn"]))

    def whom(self):
        if self.state == "blocked":
            return self.awaited()
        target = self.haul.joined().get(self.address) if self.state == "joining" else None
        return " %s %#x" % (target.name(), target.address) if target else ""

    def awaited(self):
        """The object that it is blocked for, and who holds that, as in a dump."""
        block = self.value["arg"].cast(gdb.lookup_type("struct hauli_block").pointer())
        if int(block["what"]) == 0:
            return ""
        what, address = block["what"].string(), int(block["object"])
        holder = self.haul.word_at(address) & ~3 if what == "mutex" else 0
        by = ", held by %s %#x" % (self.haul.names().get(holder, "none of these:"), holder)
        if address < 2**22:  # a descriptor's number
            return " for %s %d" % (what, address)
        return " for %s %#x%s%s" % (what, address, symbol_at(address), by if holder else "")

    def select(self):
        selected.select(self.value["co"]["ctx"])

    def user_frame(self):
        """Of a selected coroutine: the frame of the user's function that waits, or None, and the
        name of the function of haul that it has called."""
        call, frame = None, selected.first()
        while frame is not None and self.haul.owns(frame):
            call, frame = frame.name(), frame.older()
        return frame, (frame and callee(frame)) or call

    def where(self):
        try:
            self.select()
            frame, call = self.user_frame()
            if frame is None or call is None:
                return ""
            sal = frame.find_sal()
            at = " at %s:%d" % (sal.symtab.filename, sal.line) if sal.symtab else ""
            return ", in %s() by %s()%s" % (call, frame.name(), at)
        except (gdb.error, gdb.GdbError) as why:
            return ", where: %s" % why
        finally:
            selected.drop()

    def backtrace(self):
        gdb.write(self.line() + "\n")
        thread = self.thread()
        if thread is not None:
            thread.switch()
        elif self.pcs():
            self.print_frozen(self.pcs())
            return
        elif self.is_suspended():
            self.select()
        else:
            return
        gdb.execute("backtrace")


class Haul:
    """What a command has found in the process."""

    def __init__(self):
        if gdb.selected_inferior().pid == 0 or gdb.selected_thread() is None:
            raise gdb.GdbError("There is no process and no core.")
        anchor = gdb.lookup_global_symbol("hauli_runtime_enlist")
        if anchor is None:
            raise gdb.GdbError("There is no debug information of libhaul. If the program uses it: "
                               "install the debug symbols of its package, or build it with -g.")
        self.first = next(s for s in anchor.symtab.static_block() if s.name == "runtimes").value()
        self.coro = gdb.lookup_type("struct haul_coro")
        self.states = {f.enumval: f.name[len(STATE_PREFIX):].lower().replace("_", " ")
                       for f in gdb.lookup_type("enum hauli_coro_state").fields()}
        # The lowest of the bits that are combined with a kind of wait.
        self.beside = next(value for value, name in self.states.items() if name == "armed")
        self.folders = tuple(  # of haul's sources
            os.path.normpath(os.path.join(os.path.dirname(anchor.symtab.fullname()), up))
            for up in ("../..", "../../../drivers-glue"))
        self.sps = None
        self.current = None
        self.targets = None
        self.all = None
        self.thaw_pc = None

    def state_of(self, byte):
        """The name of the state; None if there is no such state."""
        return self.states.get(byte % self.beside)

    def owns(self, frame):
        """True if the frame is of a function of haul, or of a part of one in a program."""
        symtab = frame.find_sal().symtab
        return symtab is not None and self.is_own(symtab)

    def is_own(self, symtab):
        return (os.path.basename(symtab.filename) == "sync_inline.h" or
                os.path.normpath(symtab.fullname()).startswith(self.folders))

    def name_of(self, pc):
        """The name of the function at pc, not of one inlined there; pc if it has none."""
        block, name = gdb.block_for_pc(pc), None
        while block and not block.is_static and not block.is_global:
            name = block.function.name if block.function else name
            block = block.superblock
        return name or symbol_at(pc)[2:-1].partition("+")[0] or hex(pc)

    def thaw(self):
        """The pc of the contexts of coroutines that hibernate."""
        if self.thaw_pc is None:
            self.thaw_pc = int(gdb.parse_and_eval("(unsigned long)&hauli_coro_thaw"))
        return self.thaw_pc

    def joined(self):
        """{address of a coroutine that waits in a join: the coroutine that it joins}"""
        if self.targets is None:
            kind = gdb.lookup_type("struct hauli_join").pointer()
            joins = ((word(co.value["joiner"]) & ~7, co) for co in self.coroutines())
            self.targets = {int(gdb.Value(at).cast(kind)["waiter"]): co for at, co in joins if at}
        return self.targets

    def names(self):
        """{address: name} of the coroutines."""
        if self.all is None:
            self.all = {co.address: co.name() for co in self.coroutines() if co.state != "ended"}
        return self.all

    def word_at(self, address):
        """The word at the address; 0 if it cannot be read."""
        try:
            return int(gdb.Value(address).cast(gdb.lookup_type("uint64_t").pointer()).dereference())
        except gdb.error:
            return 0

    def threads(self):
        """All threads with their stack pointers."""
        if self.sps is None:
            before = gdb.selected_thread()
            self.sps = []
            for thread in gdb.selected_inferior().threads():
                thread.switch()
                self.sps.append((thread, int(gdb.newest_frame().read_register("sp"))))
            before.switch()
        return self.sps

    def carriers(self):
        for rt in self.runtimes():
            for n in range(int(rt["nb_carriers"])):
                yield rt["carriers"][n]

    def running(self):
        """{address of a coroutine that runs: the id of its carrier's thread}"""
        if self.current is None:
            self.current = {int(c["current"]): word(c["run"]["tid"]) for c in self.carriers()}
        return self.current

    def calls(self, carrier):
        """{function: number of the calls of it in the ring of the carrier}"""
        functions = {}
        ring, calls = carrier["runq"]["ring"], carrier["runq"]["calls"]
        of_calls = int(calls[0]["record"]["prototype"]) if int(calls) else None
        head, tail = word(ring["head"]), word(ring["tail"])
        for at in range(head, head + (tail - head) % 2**32):
            entry = int(ring["slots"][at % 256])
            if entry & 1 and self.word_at(entry - 1) == of_calls:
                call = gdb.Value(entry - 1).cast(calls.type).dereference()
                fn = int(call["fn"])
                functions[fn] = functions.get(fn, 0) + 1
        return functions

    def runtimes(self):
        rt = self.first
        while int(rt) != 0:
            yield rt
            rt = rt["next"]

    def carrier(self, address):
        kind = gdb.lookup_type("struct haul_carrier")
        return gdb.Value(address).cast(kind.pointer()).dereference()

    def coroutines(self):
        """Yields all coroutines that have not ended, or were not joined yet."""
        for number, value in enumerate(self.objects(), 1):
            yield Coroutine(self, value, number)

    def objects(self):
        for rt in self.runtimes():
            slab = rt["coros"].dereference()
            for n in range(word(slab["n_chunks"])):
                yield from self.in_chunk(slab["chunks"][n], int(slab["size"]))

    def in_chunk(self, chunk, size):
        """Looks at the bytes first: there may be a million, most of them free."""
        base, total = int(chunk["base"]), word(chunk["carved"]) * size
        memory = gdb.selected_inferior().read_memory(base, total).tobytes() if total else b""
        state_at, home_at = offset_of(self.coro, "state"), offset_of(self.coro, "home")
        for at in range(0, total, size):
            state = self.state_of(memory[at + state_at])
            used = any(memory[at + home_at:at + home_at + 8])
            if state == "homeless" if not used else state not in (None, "zombie"):
                value = gdb.Value(base + at).cast(self.coro.pointer()).dereference()
                if state != "ended" or not value["detached"]:
                    yield value

    def find(self, text):
        """Coroutines by name, or the one of a number, an address or an expression."""
        found = [co for co in self.coroutines() if text in (co.name(), "#%d" % co.number)]
        if found:
            return found
        try:
            address = int(gdb.parse_and_eval(text))
        except gdb.error:
            address = None
        found = [co for co in self.coroutines() if co.address == address]
        if not found:
            raise gdb.GdbError("No coroutine is %s; see haul list" % text)
        return found


class HaulCommand(gdb.Command):
    """Coroutines of haul: list, bt and switch."""

    def __init__(self):
        super().__init__("haul", gdb.COMMAND_STACK, prefix=True)


class Subcommand(gdb.Command):
    selects = False  # True: what run() has selected stays so

    def __init__(self):
        super().__init__("haul " + self.word, gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        haul = Haul()
        thread, level = gdb.selected_thread(), gdb.selected_frame().level()
        before = selected.__dict__.copy()
        selected.drop()
        try:
            self.run(haul, argument.strip())
        finally:
            if not self.selects:
                thread.switch()
                selected.restore(before)
                frame = gdb.newest_frame()
                for _ in range(level):
                    frame = frame.older()
                frame.select()


class List(Subcommand):
    """haul list [NAME]: lists the coroutines, or those of that name."""
    word = "list"

    def run(self, haul, name):
        for co in haul.coroutines():
            if name in ("", co.name()):
                gdb.write("  %s\n" % co.line())
        for carrier in haul.carriers() if not name else ():
            for fn, n in haul.calls(carrier).items():
                gdb.write("  carrier %d: %d more, ready, have not begun %s\n"
                          % (int(carrier["id"]), n, haul.name_of(fn)))


class Backtrace(Subcommand):
    """haul bt #NUMBER | ADDRESS | NAME | all: prints call stacks of coroutines."""
    word = "bt"

    def run(self, haul, text):
        if not text:
            raise gdb.GdbError("haul bt #NUMBER | ADDRESS | NAME | all")
        for co in haul.coroutines() if text == "all" else haul.find(text):
            try:
                co.backtrace()
            except (gdb.error, gdb.GdbError) as why:
                gdb.write("  %s\n" % why)
            finally:
                selected.drop()
            gdb.write("\n")


class Switch(Subcommand):
    """haul switch #NUMBER | ADDRESS | NAME | back: selects a coroutine, or the thread again.
It begins with the frame of the function that waits in a call of haul. bt, up, down, frame and info
locals are about the coroutine then, until the process continues."""
    word = "switch"
    selects = True

    def run(self, haul, text):
        if text == "back":
            gdb.newest_frame().select()
            return
        if not text:
            raise gdb.GdbError("haul switch #NUMBER | ADDRESS | NAME | back")
        found = haul.find(text)
        if len(found) > 1:
            for co in found[:MOST_CHOICES]:
                gdb.write("  %s\n" % co.line())
            raise gdb.GdbError("%d coroutines are %s; give a number, such as haul switch #%d"
                               % (len(found), text, found[0].number))
        co = found[0]
        thread = co.thread()
        if thread is not None:
            raise gdb.GdbError("It runs: thread %d" % thread.num)
        if not co.is_suspended():
            raise gdb.GdbError("It has no stack: " + co.what())
        if co.pcs():
            raise gdb.GdbError("It hibernates: its frames are elsewhere; see haul bt #%d"
                               % co.number)
        co.select()
        frame, _ = co.user_frame()
        (frame or selected.first()).select()
        gdb.execute("frame")


selected = Selected()
gdb.unwinder.register_unwinder(None, selected, replace=True)
gdb.frame_filters[Filter.name] = Filter()
gdb.events.cont.connect(lambda event: selected.drop())
gdb.events.exited.connect(lambda event: selected.drop())
HaulCommand()
List()
Backtrace()
Switch()
