/** Tells people who proved their address where their request for access stands, and again for a day. */
import { type Clock, DAY, isoTime } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import { AppError } from '../../core/error.ts';
import { expiringTickets } from '../../core/expiring-ticket.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { TicketedStanding, WaitlistStanding } from '../../core/waitlist-standing.ts';
import type { Database } from '../../db/database.ts';
import { findWaitlistEntryByEmail, type WaitlistEntry } from '../../store/waitlist.ts';
import type { AccessStateInput } from './model.ts';

const LIFETIME_MS = DAY;

interface StandingDependencies {
  readonly db: Database;
  readonly clock: Clock;
  readonly instanceKey: InstanceKey;
}

export type WaitlistStandings = ReturnType<typeof waitlistStandings>;

export function waitlistStandings({ db, clock, instanceKey }: StandingDependencies) {
  const tickets = expiringTickets(instanceKey, 'waitlist standing');
  const subjectOf = (applicationId: string, email: string) => `${applicationId}\0${email}`;

  /** @param email of a proved address, or of its ticket. */
  async function standingOf(applicationId: string, email: string): Promise<WaitlistStanding> {
    const entry = await findWaitlistEntryByEmail(db.reader, applicationId, email);
    return { status: entry ? statusOf(entry) : 'none', since: isoTime(entry?.createdAt ?? null) };
  }

  return {
    /** @param email normalized, and proved by the caller just now. */
    async ofProvedAddress(applicationId: string, email: string): Promise<TicketedStanding> {
      const ticket = tickets.issue(subjectOf(applicationId, email), clock.now() + LIFETIME_MS);
      return { ...(await standingOf(applicationId, email)), ticket };
    },

    /**
     * Reads no database. @returns the address that the ticket is for, normalized.
     *
     * @throws {AppError} code_expired also for a ticket of another address or application
     */
    requireTicket(applicationId: string, { email: text, ticket }: AccessStateInput): string {
      const email = normalizeEmail(text) ?? text;
      if (tickets.isValid(subjectOf(applicationId, email), ticket, clock.now())) return email;
      throw new AppError('code_expired', { hint: 'waitlist_ticket_expired' });
    },

    standingOf,
  };
}

/** Returns whether a person who waits for the opening may still request access: nobody has decided on them. */
export function mayRequest({ source, decidedAt, notifiedAt }: WaitlistEntry): boolean {
  return decidedAt === null && (source === 'notify' || notifiedAt !== null);
}

function statusOf(entry: WaitlistEntry): WaitlistStanding['status'] {
  if (entry.status === 'notify_when_public') return mayRequest(entry) ? 'notify' : 'declined';
  if (entry.status === 'approved') return 'approved';
  // A refusal without a word shows what was told last.
  return entry.status === 'declined' && entry.source === 'notify' ? 'notify' : 'pending';
}
