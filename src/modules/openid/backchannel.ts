/** The back-channel logout URI of an application (OpenID Connect Back-Channel Logout 1.0), kept as an endpoint row. */
import type { BlockList } from 'node:net';
import { invalidField } from '../../core/error.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import type { Random } from '../../core/random.ts';
import { mintSecret } from '../../core/secret.ts';
import type { Reader, Unit } from '../../db/database.ts';
import { beginTask } from '../../jobs/background-tasks.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import { DELIVERY_QUEUED } from '../../store/deliveries.ts';
import { findLogoutEndpoint, insertWebhook, updateWebhook } from '../../store/webhooks.ts';
import { DELETE_WEBHOOK } from '../webhooks/deletion.ts';
import { endQuarantine } from '../webhooks/quarantine.ts';

/** Events of which clients are told. An expired session is none: the client knows when its own session ends. */
const LOGOUT_EVENTS = ['user.signed_out', 'user.session_revoked'];

export interface BackchannelDependencies {
  readonly random: Random;
  readonly instanceKey: InstanceKey;
  /** Allows plain http on loopback, for dev and ephemeral instances. */
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
}

export interface Backchannel {
  readonly uri: string;
  /** A quarantined one is sent nothing until its URI is set again. */
  readonly status: 'active' | 'quarantined';
}

/** A change of an application's back-channel logout URI, checked and sealed, to be made in a write. */
export type BackchannelChange = (unit: Unit, applicationId: string) => Promise<void>;

export type BackchannelLogout = ReturnType<typeof backchannelLogout>;

export function backchannelLogout({ random, instanceKey, isLoopbackAllowed, allowedCidrs }: BackchannelDependencies) {
  return {
    /** Returns where an application's logout tokens are sent; null if nowhere. */
    async describe(reader: Reader, applicationId: string): Promise<Backchannel | null> {
      const endpoint = await findLogoutEndpoint(reader, applicationId);
      if (!endpoint) return null;
      return { uri: endpoint.url, status: endpoint.status === 'quarantined' ? 'quarantined' : 'active' };
    },

    /** Returns a sentence that says how to correct a URI; null for a right one. */
    problem: (uri: string): string | null => uriProblem(uri, { allowed: allowedCidrs, isLoopbackAllowed }),

    /**
     * Prepares setting the URI, or removing it with its deliveries (null). Setting it ends a quarantine, also where the URI
     * stays the same. Call it before the write: it seals a secret.
     *
     * @throws {AppError} invalid_request
     */
    async prepare(uri: string | null): Promise<BackchannelChange> {
      if (uri === null) return removeBackchannel;
      const problem = this.problem(uri);
      if (problem !== null) throw invalidField('backchannelLogoutUri', problem);
      // Nothing is signed with it. An older instance beside this one signs with any secret of an endpoint.
      const sealedSecret = await instanceKey.seal('webhook', mintSecret('webhook', random));
      return (unit, applicationId) => set(unit, { applicationId, url: uri, sealedSecret });
    },
  };
}

/** Returns why a URI is refused; every attempt checks the resolved address. Fragments: Back-Channel Logout 1.0 §2.2. */
function uriProblem(uri: string, settings: Parameters<typeof targetProblem>[1]): string | null {
  return uri.includes('#') ? 'Give an address without a fragment.' : targetProblem(uri, settings);
}

async function set(
  unit: Unit,
  { applicationId, url, sealedSecret }: Record<'applicationId' | 'url' | 'sealedSecret', string>,
): Promise<void> {
  const endpoint = await findLogoutEndpoint(unit, applicationId);
  if (!endpoint) {
    const columns = { applicationId, url, description: null, events: LOGOUT_EVENTS, sealedSecret };
    await insertWebhook(unit, { ...columns, kind: 'logout' });
    return;
  }
  const { id } = endpoint;
  if (endpoint.url !== url) await updateWebhook(unit, id, { url });
  if (endpoint.status !== 'quarantined') return;
  await endQuarantine(unit, id);
  unit.publish(DELIVERY_QUEUED, id);
}

/** Removes the URI with its deliveries. */
export async function removeBackchannel(unit: Unit, applicationId: string): Promise<void> {
  const endpoint = await findLogoutEndpoint(unit, applicationId);
  if (!endpoint) return;
  await updateWebhook(unit, endpoint.id, { removedAt: unit.now });
  await beginTask(unit, DELETE_WEBHOOK, { applicationId, data: { webhookId: endpoint.id } });
}
