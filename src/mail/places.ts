/**
 * Who may be sent beside what is under way. A mail that hangs gives its place back after a while, to a bounded number of
 * such. Half of the places is the most that mails to one domain have, and of codes three quarters those of one workspace, so
 * that whoever does not answer is waited for by their own mails.
 */
import { type DueMail, MAIL_LANES, type MailLane } from '../store/mails.ts';
import { lanePlaces } from './lanes.ts';

/** How many a transport sends at once. */
export interface MailPlaces {
  readonly places: number;
  /** How many more may hang besides; none where nothing is. */
  readonly slowPlaces?: number;
}

export type Candidate = Pick<DueMail, 'id' | 'domain' | 'workspaceId'> & { readonly lane: MailLane };

/** The places that are free at this moment. */
export interface Room {
  isFull(lane: MailLane): boolean;
  /** Takes a place. @returns false where there is none for this one. */
  take(candidate: Candidate): boolean;
}

/** No workspace’s id. */
const NO_CODE = 'no code';

export function inFlight({ places, slowPlaces = 0 }: MailPlaces) {
  const most = { ofDomain: Math.ceil(places / 2), ofWorkspace: Math.ceil((places * 3) / 4) };
  const underWay = new Map<string, Candidate>();
  /** Those of them that hang, the first of them first. */
  const slow = new Set<string>();

  /** Those that hold a place: all that do not hang, and what hangs beyond its bounds, in all, of one workspace, and of no codes. */
  function holders(): Candidate[] {
    const hanging = new Map<string, number>();
    let left = slowPlaces;
    const isExcused = (candidate: Candidate) => {
      if (!slow.has(candidate.id) || left === 0) return false;
      if (count(hanging, candidate.lane === 'code' ? candidate.workspaceId : NO_CODE) > slowPlaces / 2) return false;
      left -= 1;
      return true;
    };
    return [...underWay.values()].filter((candidate) => !isExcused(candidate));
  }

  return {
    begin: (candidate: Candidate): void => void underWay.set(candidate.id, candidate),
    /** It has taken longer than mails do. */
    hang: (id: string): void => void (underWay.has(id) && slow.add(id)),
    end(id: string): void {
      underWay.delete(id);
      slow.delete(id);
    },

    room(): Room {
      const holding = holders();
      const lanes = lanePlaces(
        places,
        holding.map(({ lane }) => lane),
      );
      const ofDomain = new Map<string, number>();
      const ofWorkspace = new Map<string, number>();
      for (const candidate of underWay.values()) count(ofDomain, domainKey(candidate));
      for (const { lane, workspaceId } of holding) if (lane === 'code') count(ofWorkspace, workspaceId);
      return {
        isFull: (lane) => lanes.of(lane) === 0,
        take(candidate) {
          const { lane, workspaceId } = candidate;
          const domain = domainKey(candidate);
          if (lanes.of(lane) === 0 || (ofDomain.get(domain) ?? 0) >= most.ofDomain) return false;
          // What goes to many is bounded by its lane, and by the hour of its workspace.
          if (lane === 'code' && (ofWorkspace.get(workspaceId) ?? 0) >= most.ofWorkspace) return false;
          lanes.take(lane);
          count(ofDomain, domain);
          if (lane === 'code') count(ofWorkspace, workspaceId);
          return true;
        },
      };
    },
  };
}

/** In each lane by itself, so that a code has its own room where mails to many go to the same domain. */
const domainKey = ({ lane, domain }: Candidate) => `${MAIL_LANES[lane]} ${domain}`;

/** Counts one more. @returns how many there are then. */
function count(counts: Map<string, number>, key: string): number {
  const now = (counts.get(key) ?? 0) + 1;
  counts.set(key, now);
  return now;
}
