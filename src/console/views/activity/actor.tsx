/** Actor of a record, linked to the member, user or key. */
import { Link } from 'wouter-preact';
import { addresses } from '../../address.ts';
import { api, ask, type Outcome } from '../../api.ts';
import { Copyable } from '../../components/copy.tsx';
import { useLoaded } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import { ACTOR_TYPES, type AuthEvent } from './kinds.ts';

interface Found {
  readonly name: string;
  readonly detail: string;
  readonly href: string | null;
}

export function Actor({ of: event }: { readonly of: AuthEvent }) {
  const { actorType, actorUserId, actorApiKeyId, actorName, kind, userId } = event;
  const { workspace } = useConsole();
  const isOneself = actorUserId !== null && actorUserId === userId;
  const { data } = useLoaded<Found | null>(() => find(event, workspace.id), [event.id]);
  const id = actorApiKeyId ?? actorUserId;
  if ((isOneself && actorApiKeyId === null) || kind === 'signin.succeeded') return <>The person themselves</>;
  return (
    <>
      {data?.href ? <Link href={data.href}>{data.name}</Link> : (data?.name ?? actorName ?? ACTOR_TYPES[actorType])}
      {data && <span class="fine block">{data.detail}</span>}
      {id !== null && (
        <span class="block">
          <Copyable value={id} label="actor id" />
        </span>
      )}
    </>
  );
}

/** Falls back to actor type and id if nobody is found. */
async function find(event: AuthEvent, workspaceId: string): Promise<Outcome<Found | null>> {
  const { actorUserId, actorApiKeyId, applicationId } = event;
  const found =
    actorApiKeyId !== null
      ? ((await keyOfApplication(applicationId, actorApiKeyId)) ?? (await keyOfWorkspace(workspaceId, actorApiKeyId)))
      : actorUserId !== null && actorUserId !== event.userId
        ? ((await member(workspaceId, actorUserId)) ?? (await user(applicationId, actorUserId)))
        : null;
  return { ok: true, data: found };
}

async function keyOfApplication(applicationId: string | null, id: string): Promise<Found | null> {
  if (applicationId === null) return null;
  const keys = await ask(
    api.GET('/api/applications/{id}/api-keys', { params: { path: { id: applicationId }, query: { limit: 200 } } }),
  );
  const key = keys.ok ? keys.data.items.find((one) => one.id === id) : undefined;
  if (!key) return null;
  const href = addresses.application(applicationId, 'keys', id);
  return { name: key.name, detail: 'Key of the application', href };
}

async function keyOfWorkspace(workspaceId: string, id: string): Promise<Found | null> {
  const keys = await ask(api.GET('/api/workspace/api-keys', { params: { query: { workspaceId, limit: 200 } } }));
  const key = keys.ok ? keys.data.items.find((one) => one.id === id) : undefined;
  return key
    ? { name: key.name, detail: 'Key of the workspace', href: addresses.workspace(workspaceId, 'keys', id) }
    : null;
}

async function member(workspaceId: string, userId: string): Promise<Found | null> {
  const members = await ask(api.GET('/api/workspace/members', { params: { query: { workspaceId, limit: 200 } } }));
  const found = members.ok ? members.data.items.find((one) => one.userId === userId) : undefined;
  if (!found) return null;
  const href = addresses.workspace(workspaceId, 'members', found.id);
  return { name: found.email, detail: 'Member of the workspace', href };
}

async function user(applicationId: string | null, userId: string): Promise<Found | null> {
  if (applicationId === null) return null;
  const found = await ask(
    api.GET('/api/applications/{id}/users/{userId}', { params: { path: { id: applicationId, userId } } }),
  );
  const href = addresses.application(applicationId, 'users', userId);
  if (!found.ok) return null;
  const { kind, email, apiKey } = found.data;
  if (kind === 'api_key') return { name: apiKey?.name ?? 'API key', detail: 'Key of the application', href };
  return { name: email, detail: 'User of the application', href };
}
