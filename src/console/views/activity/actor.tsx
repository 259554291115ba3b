/** Actor of a record, by the name in the record; a key is linked to its view. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import type { Outcome } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import { keyCalls, type KeyOwner } from '../keys/key-calls.ts';
import { ACTOR_TYPES, type AuthEvent } from './kinds.ts';

interface FoundKey {
  readonly name: string;
  readonly detail: string;
  readonly href: string;
}

export function Actor({ of: event }: { readonly of: AuthEvent }) {
  const { actorType, actorUserId, actorApiKeyId, actorName, kind, userId } = event;
  const { workspace } = useConsole();
  const isOneself = actorUserId !== null && actorUserId === userId;
  const { data: key } = useLoaded<FoundKey | null>(() => findKey(event, workspace.id), [event.id]);
  const id = actorApiKeyId ?? actorUserId;
  if ((isOneself && actorApiKeyId === null) || kind === 'signin.succeeded') return <>The person themselves</>;
  return (
    <>
      {key ? <Link href={key.href}>{key.name}</Link> : <bdi>{actorName ?? ACTOR_TYPES[actorType]}</bdi>}
      {key && <span class="fine block">{key.detail}</span>}
      {id !== null && (
        <span class="block">
          <Copyable value={id} label="actor id" />
        </span>
      )}
    </>
  );
}

/** A record does not say whether its key is the application's or the workspace's. */
async function findKey(
  { actorApiKeyId: keyId, applicationId }: AuthEvent,
  workspaceId: string,
): Promise<Outcome<FoundKey | null>> {
  if (keyId === null) return { ok: true, data: null };
  const ofWorkspace = { kind: 'workspace', id: workspaceId } as const;
  const owners: KeyOwner[] =
    applicationId === null ? [ofWorkspace] : [{ kind: 'application', id: applicationId }, ofWorkspace];
  for (const owner of owners) {
    const key = await keyCalls(owner).get(keyId);
    if (!key.ok) continue;
    const { kind, id } = owner;
    const href =
      kind === 'application' ? addresses.application(id, 'keys', keyId) : addresses.workspace(id, 'keys', keyId);
    return { ok: true, data: { name: key.data.name, detail: `Key of the ${kind}`, href } };
  }
  return { ok: true, data: null };
}
