/** Adds live records above the loaded list. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Listed } from '../../data.ts';
import { useLive, useLiveEvents } from '../../shell/live.tsx';
import { type ActivityQuery, isWithin } from './activity-filters.ts';
import type { AuthEvent } from './kinds.ts';

/** Minimum time between updates of the list. */
const EVERY_MS = 250;
/** Reloads after this many new records, so that an open list does not grow without bound. */
const MAX_NEW = 200;

export function useLiveRows(list: Listed<AuthEvent>, query: ActivityQuery, isOn: boolean): Listed<AuthEvent> {
  const { breaks, see, unseen } = useLive();
  const [recent, setRecent] = useState<readonly AuthEvent[]>([]);
  /** Breaks of the stream that the list covers; null while it is paused. */
  const shown = useRef<number | null>(breaks);

  useLiveEvents(EVERY_MS, (events) => isOn && setRecent((before) => [...events.toReversed(), ...before]));
  // Records shown here count as seen.
  useEffect(() => (unseen > 0 && isOn ? see() : undefined), [unseen, isOn]);

  /** Reloads; the records received before are then on the first page. */
  async function reloadAll(): Promise<void> {
    const known = new Set(recent);
    await list.reload();
    setRecent((now) => now.filter((event) => !known.has(event)));
  }
  useEffect(() => {
    if (recent.length > MAX_NEW) void reloadAll();
  }, [recent.length > MAX_NEW]);
  useEffect(() => {
    if (!isOn) return void (shown.current = null);
    if (shown.current !== breaks) void reloadAll();
    shown.current = breaks;
  }, [breaks, isOn]);

  if (list.items === null) return list;
  const [newest] = list.items;
  const isNew = ({ createdAt, id }: AuthEvent) =>
    !newest || createdAt > newest.createdAt || (createdAt === newest.createdAt && id > newest.id);
  const fresh = recent.filter((event) => isNew(event) && isWithin(event, query));
  return fresh.length === 0 ? list : { ...list, items: [...fresh, ...list.items] };
}
