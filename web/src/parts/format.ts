const moment = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' });
const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' });
const clock = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const whole = new Intl.NumberFormat('en-US');

// when writes a moment in the reader's time zone: the clock alone today.
export function when(iso: string | Date): string {
  const d = new Date(iso);
  return d.toDateString() === new Date().toDateString() ? clock.format(d) : moment.format(d);
}

export const exactly = (iso: string | Date) => moment.format(new Date(iso));
export const onDay = (iso: string | Date) => day.format(new Date(iso));
export const count = (n: number) => whole.format(n);

export function bytes(n: number): string {
  if (n < 1000) return `${n} B`;
  const units = ['kB', 'MB', 'GB', 'TB'];
  let i = -1;
  do {
    n /= 1000;
    i++;
  } while (n >= 999.5 && i < units.length - 1);
  return `${n < 10 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

export function seconds(ms: number): string {
  if (ms < 995) return `${(ms / 1000).toFixed(2)} s`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 3600) return two(s, 60, 'min', 's');
  return two(Math.floor(s / 60), 60, 'h', 'min');
}

// two writes n in its greater unit and what is left over in the smaller one.
function two(n: number, per: number, great: string, small: string): string {
  const rest = n % per;
  return `${Math.floor(n / per)} ${great}${rest ? ` ${rest} ${small}` : ''}`;
}

// plural writes a count with its noun.
export const plural = (n: number, one: string, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;
