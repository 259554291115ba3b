/** Relative time, with the exact time on hover and for screen readers. */
import { exactTime, relativeTime } from './format.ts';

export function Time({ at, none = 'Never' }: { readonly at: string | null; readonly none?: string }) {
  if (at === null) return <span class="muted">{none}</span>;
  return (
    <time dateTime={at} title={exactTime(at)}>
      {relativeTime(at)}
    </time>
  );
}
