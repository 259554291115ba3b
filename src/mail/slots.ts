/**
 * Concurrency limits for sending mail. Stalled mails free their slots, at most `slowSlots` of them. Less urgent mail never
 * takes every slot. Per priority, one recipient domain gets at most half of the slots; one workspace's codes get at most
 * three quarters. A slow server therefore delays only its own mails.
 */
import { type Pool, pool } from '../core/pool.ts';
import { type DueMail, MAIL_PRIORITIES, type MailPriority } from '../store/mails.ts';

export interface MailConcurrency {
  readonly slots: number;
  /** Additional slots for stalled mails; none by default. */
  readonly slowSlots?: number;
}

export type Candidate = Pick<DueMail, 'id' | 'domain' | 'workspaceId'> & { readonly priority: MailPriority };

export interface FreeSlots {
  isFull(priority: MailPriority): boolean;
  /** Takes a slot. @returns false if this mail must wait. */
  take(candidate: Candidate): boolean;
}

/** Not a workspace id: the shared key for stalled mails without a code. */
const NO_CODE = 'no code';

export function mailSlots({ slots, slowSlots = 0 }: MailConcurrency) {
  const underWay = new Map<string, Candidate>();
  const stalled = new Set<string>();

  /**
   * Returns the mails that use a slot. Up to `slowSlots` stalled mails use none; of these, at most half are one
   * workspace's codes, and at most half are not codes.
   */
  function holders(): Candidate[] {
    const slow = pool({ total: slowSlots, perKey: Math.floor(slowSlots / 2) });
    return [...underWay.values()].filter(
      ({ id, priority, workspaceId }) => !(stalled.has(id) && slow.take(priority === 'code' ? workspaceId : NO_CODE)),
    );
  }

  return {
    begin: (candidate: Candidate): void => void underWay.set(candidate.id, candidate),
    stall: (id: string): void => void (underWay.has(id) && stalled.add(id)),
    end(id: string): void {
      underWay.delete(id);
      stalled.delete(id);
    },

    free(): FreeSlots {
      const quarters = (count: number) => Math.ceil((slots * count) / 4);
      const [code, notice, bulk] = [quarters(4), quarters(3), quarters(2)].map((total) => pool({ total })) as [
        Pool,
        Pool,
        Pool,
      ];
      /** A mail takes a slot of its priority and of each more urgent one. */
      const pools: Record<MailPriority, readonly Pool[]> = {
        code: [code],
        notice: [code, notice],
        bulk: [code, notice, bulk],
      };
      const domains = pool({ perKey: quarters(2) });
      const workspaces = pool({ perKey: quarters(3) });
      const isFull = (priority: MailPriority) => pools[priority].some((each) => each.free() === 0);

      function hold({ priority, workspaceId }: Candidate): void {
        for (const each of pools[priority]) each.add();
        if (priority === 'code') workspaces.add(workspaceId);
      }

      for (const candidate of underWay.values()) domains.add(domainKey(candidate));
      for (const candidate of holders()) hold(candidate);
      return {
        isFull,
        take(candidate) {
          // Other mail is limited by its priority and by the workspace's hourly budget.
          const isOver = candidate.priority === 'code' && workspaces.free(candidate.workspaceId) === 0;
          if (isOver || isFull(candidate.priority) || !domains.take(domainKey(candidate))) return false;
          hold(candidate);
          return true;
        },
      };
    },
  };
}

/** Counts each priority separately, so that bulk mail to a domain does not delay codes to it. */
const domainKey = ({ priority, domain }: Candidate) => `${MAIL_PRIORITIES[priority]} ${domain}`;
