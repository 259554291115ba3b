/**
 * Concurrency limits for sending mail. Stalled mails free their slots, at most `slowPlaces` of them. Per priority, one
 * recipient domain gets at most half of the slots; one workspace's codes get at most three quarters. A slow server
 * therefore delays only its own mails.
 */
import { type DueMail, MAIL_LANES, type MailLane } from '../store/mails.ts';
import { lanePlaces } from './lanes.ts';

export interface MailPlaces {
  readonly places: number;
  /** Additional slots for stalled mails; none by default. */
  readonly slowPlaces?: number;
}

export type Candidate = Pick<DueMail, 'id' | 'domain' | 'workspaceId'> & { readonly lane: MailLane };

export interface Room {
  isFull(lane: MailLane): boolean;
  /** Takes a slot. @returns false if this mail must wait. */
  take(candidate: Candidate): boolean;
}

/** Not a workspace id: the shared key for stalled mails without a code. */
const NO_CODE = 'no code';

export function inFlight({ places, slowPlaces = 0 }: MailPlaces) {
  const most = { ofDomain: Math.ceil(places / 2), ofWorkspace: Math.ceil((places * 3) / 4) };
  const underWay = new Map<string, Candidate>();
  /** Stalled mails, in the order they stalled. */
  const slow = new Set<string>();

  /**
   * Returns the mails that use a slot. Up to `slowPlaces` stalled mails use none; of these, at most half are one
   * workspace's codes, and at most half are not codes.
   */
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
    /** Marks a mail as stalled. */
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
          // Other mail is limited by its priority and by the workspace's hourly budget.
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

/** Counts each priority separately, so that bulk mail to a domain does not delay codes to it. */
const domainKey = ({ lane, domain }: Candidate) => `${MAIL_LANES[lane]} ${domain}`;

function count(counts: Map<string, number>, key: string): number {
  const now = (counts.get(key) ?? 0) + 1;
  counts.set(key, now);
  return now;
}
