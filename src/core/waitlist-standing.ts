/** Where a request for access stands, as the person who made it is told. */

/** `declined` waits for the opening and cannot request access. A person refused without a word reads `pending`. */
export const WAITLIST_STANDINGS = ['none', 'pending', 'notify', 'declined', 'approved'] as const;

export interface WaitlistStanding {
  readonly status: (typeof WAITLIST_STANDINGS)[number];
  /** When the request was made, as an ISO time; null without one. */
  readonly since: string | null;
}

/** The standing of a proved address, with a ticket that asks for it again. */
export interface TicketedStanding extends WaitlistStanding {
  readonly ticket: string;
}
