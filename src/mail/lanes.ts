/** Concurrency limits by mail priority, so that less urgent mail never takes every slot. */
import type { MailLane } from '../store/mails.ts';

/** Returns how many slots each priority may use together with all less urgent ones. */
function shareOf(places: number): Record<MailLane, number> {
  return { code: places, notice: Math.ceil((places * 3) / 4), bulk: Math.ceil(places / 2) };
}

/** Most urgent first. */
const ORDER: readonly MailLane[] = ['code', 'notice', 'bulk'];

/** Free slots of the sender. */
export interface LanePlaces {
  /** Returns how many more slots the priority may take. */
  of(lane: MailLane): number;
  take(lane: MailLane): void;
}

/** Calculates the free slots. @param underWay priorities of the mails being sent. */
export function lanePlaces(places: number, underWay: Iterable<MailLane>): LanePlaces {
  const share = shareOf(places);
  const used: Record<MailLane, number> = { code: 0, notice: 0, bulk: 0 };
  for (const lane of underWay) used[lane] += 1;

  /** Counts the slots used by a priority and all less urgent ones. */
  const usedFrom = (lane: MailLane) => ORDER.slice(ORDER.indexOf(lane)).reduce((sum, each) => sum + used[each], 0);

  return {
    of(lane) {
      const bounds = ORDER.slice(0, ORDER.indexOf(lane) + 1).map((each) => share[each] - usedFrom(each));
      return Math.max(0, Math.min(...bounds));
    },
    take: (lane) => void (used[lane] += 1),
  };
}
