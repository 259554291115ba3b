import type { Claim } from '../../core/lease-keeper.ts';
import type { LeasedDelivery } from '../../store/delivery-claims.ts';
import type { Endpoint } from '../../store/webhooks.ts';

/** A delivery leased by this process, with what its attempt needs. */
export interface Claimed extends LeasedDelivery {
  readonly endpoint: Endpoint;
  readonly budgetId: string;
  /** It was held: no other delivery of its endpoint may overtake it. */
  readonly isInOrder: boolean;
  /** Aborted once the lease is lost. */
  readonly lost: AbortSignal;
}

export function claimOf({ deliveryId: id, attempts }: Pick<Claimed, 'deliveryId' | 'attempts'>): Claim {
  return { id, attempts };
}
