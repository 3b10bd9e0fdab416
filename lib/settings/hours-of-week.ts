const days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];
const form = /^(mon|tue|wed|thu|fri|sat|sun)-(mon|tue|wed|thu|fri|sat|sun) (\d{2})-(\d{2})$/;

/** Hours of some weekdays in UTC, such as `mon-fri 07-19`. */
export type HoursOfWeek = string;

/**
 * @returns days from 1 (Monday) to 7, and hours from 0, `to` excluded
 * @throws for a text of another form
 */
export function readHoursOfWeek(text: HoursOfWeek) {
  const [, first = "", last = "", from, to] = form.exec(text) ?? [];
  const read = {
    firstDay: days.indexOf(first) + 1,
    lastDay: days.indexOf(last) + 1,
    from: Number(from),
    to: Number(to),
  };
  if (read.firstDay === 0 || read.firstDay > read.lastDay || !(read.from < read.to) || read.to > 24) {
    throw new Error(`${text} is no range of days and hours`);
  }
  return read;
}

export function isHoursOfWeek(text: string): boolean {
  try {
    readHoursOfWeek(text);
    return true;
  } catch {
    return false;
  }
}
