/** The only source of time in the sandbox: deliveries, tokens and data all live on it. */
export type Clock = {
  now(): Date;
  /** Calls back once, at or after `at`. The answer cancels it. */
  schedule(at: Date, callback: () => void): () => void;
};

/** A clock that can be moved forward. */
export type AdjustableClock = Clock & {
  /** Moves time forward and calls back what has become due, in order of time. */
  advance(milliseconds: number): void;
  /** When the next callback is due. */
  nextDue(): Date | undefined;
};

type Appointment = { readonly at: number; readonly callback: () => void };

/** Node's timers hold at most a signed 32-bit number of milliseconds; longer waits are taken in parts. */
const longestTimer = 2 ** 31 - 1;

export function isAdjustable(clock: Clock): clock is AdjustableClock {
  return "advance" in clock && "nextDue" in clock;
}

/** Runs with the system's time, plus what it was advanced by; `offset` is what it was advanced by before. */
export function runningClock(offset = 0): AdjustableClock {
  let timer: NodeJS.Timeout | undefined;
  const appointments = new Set<Appointment>();
  const now = () => Date.now() + offset;
  const wake = () => {
    clearTimeout(timer);
    runDue(appointments, now());
    const next = earliest(appointments);
    if (next === undefined) return;
    timer = setTimeout(wake, Math.min(longestTimer, Math.max(0, next.at - now())));
    // A sandbox is kept alive by its server, never by a delivery that is due in three days.
    timer.unref();
  };
  return {
    ...calendar(appointments, now, () => {
      clearTimeout(timer);
      timer = setTimeout(
        wake,
        Math.min(longestTimer, Math.max(0, (earliest(appointments)?.at ?? 0) - now())),
      );
      timer.unref();
    }),
    advance: (milliseconds) => {
      offset += checkedAdvance(milliseconds);
      wake();
    },
  };
}

/** Stands still until it is advanced: for tests. */
export function stoppedClock(start: Date): AdjustableClock {
  let time = start.getTime();
  const appointments = new Set<Appointment>();
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

function calendar(appointments: Set<Appointment>, now: () => number, changed: () => void) {
  return {
    now: () => new Date(now()),
    schedule: (at: Date, callback: () => void) => {
      const appointment = { at: at.getTime(), callback };
      appointments.add(appointment);
      changed();
      return () => {
        appointments.delete(appointment);
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

function runDue(appointments: Set<Appointment>, now: number): void {
  const due = [...appointments].filter(({ at }) => at <= now).sort((a, b) => a.at - b.at);
  for (const appointment of due) {
    if (appointments.delete(appointment)) appointment.callback();
  }
}

function earliest(appointments: ReadonlySet<Appointment>): Appointment | undefined {
  let first: Appointment | undefined;
  for (const appointment of appointments) {
    if (first === undefined || appointment.at < first.at) first = appointment;
  }
  return first;
}
