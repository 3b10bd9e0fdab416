/** The sandbox's only source of time, for deliveries, tokens and data. */
export type Clock = {
  now(): Date;
  /** Calls back once, at or after `at`; returns a function that cancels it. */
  schedule(at: Date, callback: () => void): () => void;
};

export type AdjustableClock = Clock & {
  /** Moves time forward and runs due callbacks in order of time. */
  advance(milliseconds: number): void;
  nextDue(): Date | undefined;
};

/** A scheduled callback; `order` preserves the sequence of simultaneous ones. */
type Appointment = { readonly at: number; readonly order: number; callback: (() => void) | undefined };
type Appointments = Heap<Appointment>;

/** Node's timers hold at most a signed 32-bit number of milliseconds; longer waits are split. */
const longestTimer = 2 ** 31 - 1;

export function isAdjustable(clock: Clock): clock is AdjustableClock {
  return "advance" in clock && "nextDue" in clock;
}

/** A view of a clock that can end: callbacks scheduled through it never run after `end`. */
export function endingClock(clock: Clock): Clock & { end(): void } {
  let ended = false;
  return {
    now: () => clock.now(),
    schedule: (at, callback) =>
      clock.schedule(at, () => {
        if (!ended) callback();
      }),
    end: () => {
      ended = true;
    },
  };
}

/**
 * A clock that runs with the system's time.
 * @param offset milliseconds that earlier runs advanced it by
 */
export function runningClock(offset = 0): AdjustableClock {
  let timer: NodeJS.Timeout | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  const appointments = emptyAppointments();
  const now = () => Date.now() + offset;
  const wake = () => {
    wakesAt = Number.POSITIVE_INFINITY;
    runDue(appointments, now());
    plan();
  };
  const plan = () => {
    const next = earliest(appointments)?.at ?? Number.POSITIVE_INFINITY;
    // The current timer is early enough.
    if (next >= wakesAt) return;
    wakesAt = next;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(longestTimer, Math.max(0, next - now())));
    // Only the server keeps the process alive, not a delivery that is due in three days.
    timer.unref();
  };
  return {
    ...calendar(appointments, now, plan),
    advance: (milliseconds) => {
      offset += checkedAdvance(milliseconds);
      wake();
    },
  };
}

/** A clock that moves only when advanced, for tests. */
export function stoppedClock(start: Date): AdjustableClock {
  let time = start.getTime();
  const appointments = emptyAppointments();
  return {
    ...calendar(
      appointments,
      () => time,
      () => setImmediate(() => runDue(appointments, time)),
    ),
    advance: (milliseconds) => {
      time += checkedAdvance(milliseconds);
      runDue(appointments, time);
    },
  };
}

function emptyAppointments(): Appointments {
  return createHeap((one, other) => (one.at === other.at ? one.order < other.order : one.at < other.at));
}

function calendar(appointments: Appointments, now: () => number, changed: () => void) {
  let made = 0;
  return {
    now: () => new Date(now()),
    schedule: (at: Date, callback: () => void) => {
      made += 1;
      const appointment: Appointment = { at: at.getTime(), order: made, callback };
      appointments.push(appointment);
      changed();
      return () => {
        appointment.callback = undefined;
      };
    },
    nextDue: () => {
      const next = earliest(appointments);
      return next === undefined ? undefined : new Date(next.at);
    },
  };
}

function checkedAdvance(milliseconds: number): number {
  if (milliseconds >= 0 && Number.isFinite(milliseconds)) return milliseconds;
  throw new RangeError(`the clock can't be moved by ${milliseconds} ms: it only goes forward`);
}

function runDue(appointments: Appointments, now: number): void {
  for (
    let next = earliest(appointments);
    next !== undefined && next.at <= now;
    next = earliest(appointments)
  ) {
    appointments.pop();
    next.callback?.();
  }
}

/** Returns the first callback that was not cancelled. */
function earliest(appointments: Appointments): Appointment | undefined {
  for (;;) {
    const first = appointments.peek();
    if (first === undefined || first.callback !== undefined) return first;
    appointments.pop();
  }
}

/** A binary heap: removes the smallest item in logarithmic time. */
type Heap<T> = {
  push(item: T): void;
  peek(): T | undefined;
  pop(): T | undefined;
};

/** @param before whether the first item sorts before the second */
function createHeap<T>(before: (one: T, other: T) => boolean): Heap<T> {
  const items: T[] = [];

  function swapIfBefore(child: number, parent: number): boolean {
    const [low, high] = [items[child], items[parent]];
    if (low === undefined || high === undefined || !before(low, high)) return false;
    items[child] = high;
    items[parent] = low;
    return true;
  }

  function rise(start: number): void {
    let place = start;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (!swapIfBefore(place, parent)) return;
      place = parent;
    }
  }

  function sink(): void {
    let place = 0;
    for (;;) {
      const left = 2 * place + 1;
      const [one, other] = [items[left], items[left + 1]];
      if (one === undefined) return;
      const child = other !== undefined && before(other, one) ? left + 1 : left;
      if (!swapIfBefore(child, place)) return;
      place = child;
    }
  }

  return {
    push: (item) => {
      items.push(item);
      rise(items.length - 1);
    },
    peek: () => items[0],
    pop: () => {
      const first = items[0];
      const last = items.pop();
      if (items.length > 0 && last !== undefined) {
        items[0] = last;
        sink();
      }
      return first;
    },
  };
}
