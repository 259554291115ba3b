/** How the places of the sender are shared: what is less urgent never takes them all. */
import type { MailLane } from '../store/mails.ts';

/** Of so many places, how many each lane may use together with those that are less urgent. */
function shareOf(places: number): Record<MailLane, number> {
  return { code: places, notice: Math.ceil((places * 3) / 4), bulk: Math.ceil(places / 2) };
}

/** The less urgent last. */
const ORDER: readonly MailLane[] = ['code', 'notice', 'bulk'];

/** The free places of a sender. */
export interface LanePlaces {
  /** How many more the lane may take. */
  of(lane: MailLane): number;
  take(lane: MailLane): void;
}

/** @param underWay the lanes of what is being sent now. */
export function lanePlaces(places: number, underWay: Iterable<MailLane>): LanePlaces {
  const share = shareOf(places);
  const used: Record<MailLane, number> = { code: 0, notice: 0, bulk: 0 };
  for (const lane of underWay) used[lane] += 1;

  /** Places that a lane and all that are less urgent use. */
  const usedFrom = (lane: MailLane) => ORDER.slice(ORDER.indexOf(lane)).reduce((sum, each) => sum + used[each], 0);

  return {
    of(lane) {
      const bounds = ORDER.slice(0, ORDER.indexOf(lane) + 1).map((each) => share[each] - usedFrom(each));
      return Math.max(0, Math.min(...bounds));
    },
    take: (lane) => void (used[lane] += 1),
  };
}
