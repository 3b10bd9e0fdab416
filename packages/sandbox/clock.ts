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

type Appointment = { readonly at: number; readonly callback: () => void };

/** Node's timers hold at most a signed 32-bit number of milliseconds; longer waits are split. */
const longestTimer = 2 ** 31 - 1;

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
  const now = () => Date.now() + offset;
  const wake = () => {
    wakesAt = Number.POSITIVE_INFINITY;
    runDue();
    plan();
  };
  const plan = () => {
    const next = nextDue()?.getTime() ?? Number.POSITIVE_INFINITY;
    // The current timer is early enough.
    if (next >= wakesAt) return;
    wakesAt = next;
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(longestTimer, Math.max(0, next - now())));
    // Only the server keeps the process alive, not a delivery that is due in three days.
    timer.unref();
  };
  const { runDue, nextDue, ...clock } = calendar(now, plan);
  const advance = (milliseconds: number) => {
    offset += checkedAdvance(milliseconds);
    wake();
  };
  return { ...clock, nextDue, advance };
}

/** A clock that moves only when advanced, for tests. */
export function stoppedClock(start: Date): AdjustableClock {
  let time = start.getTime();
  const { runDue, ...clock } = calendar(
    () => time,
    () => setImmediate(() => runDue()),
  );
  const advance = (milliseconds: number) => {
    time += checkedAdvance(milliseconds);
    runDue();
  };
  return { ...clock, advance };
}

function calendar(now: () => number, changed: () => void) {
  /** In order of time; simultaneous ones in the order in which they were scheduled. */
  const appointments: Appointment[] = [];
  return {
    now: () => new Date(now()),
    schedule: (time: Date, callback: () => void) => {
      const appointment = { at: time.getTime(), callback };
      const before = appointments.findLastIndex(({ at }) => at <= appointment.at);
      appointments.splice(before + 1, 0, appointment);
      changed();
      return () => {
        const place = appointments.indexOf(appointment);
        if (place !== -1) appointments.splice(place, 1);
      };
    },
    nextDue: () => {
      const [next] = appointments;
      return next === undefined ? undefined : new Date(next.at);
    },
    runDue: () => {
      for (let [next] = appointments; next !== undefined && next.at <= now(); [next] = appointments) {
        appointments.shift();
        next.callback();
      }
    },
  };
}

function checkedAdvance(milliseconds: number): number {
  if (milliseconds >= 0 && Number.isFinite(milliseconds)) return milliseconds;
  throw new RangeError(`the clock can't be moved by ${milliseconds} ms: it only goes forward`);
}
