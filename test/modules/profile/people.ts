/** Shared by the profile tests: a person of several applications, and a check of what a call changed. */
import { type Answer, createInstance, type Instance } from '../../support/instance.ts';
import { dumpTables } from '../../support/stored.ts';

export type Call = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Ada is a member of the shop, from which she calls, and of the forum, and has left the club; Bob is in the shop. */
export async function createPeople() {
  const instance = await createInstance();
  const shop = await instance.createApplication({ name: 'Shop' });
  const forum = await instance.createApplication({ name: 'Forum' });
  const club = await instance.createApplication({ name: 'Club' });
  const ada = await instance.signIn(shop.clientId, 'ada@example.com');
  const adaInForum = await instance.signIn(forum.clientId, 'ada@example.com');
  const adaInClub = await instance.signIn(club.clientId, 'ada@example.com');
  const bob = await instance.signIn(shop.clientId, 'bob@example.com');
  await instance.call('POST', '/api/account/leave', { token: adaInClub.token });
  const as =
    (token: string): Call =>
    (method, path, body) =>
      instance.call(method, `/api/account${path}`, { token, body });
  const envelope = async (token = ada.token) => (await instance.call('POST', '/api/v1/session', { token })).json;
  return {
    instance,
    shop,
    forum,
    club,
    ada,
    adaInForum,
    bob,
    asAda: as(ada.token),
    asBob: as(bob.token),
    as,
    envelope,
  };
}

export type People = Awaited<ReturnType<typeof createPeople>>;

/** Collects the events and records from now on. */
export function watch({ instance, shop, forum, club }: Pick<People, 'instance' | 'shop' | 'forum' | 'club'>) {
  const applications = { shop: shop.id, forum: forum.id, club: club.id };
  const eventsOf = (id: string) => instance.events(id);
  const before = Object.values(applications).map((id) => eventsOf(id).length);
  const recorded = () =>
    (
      instance.sqlite
        .query('SELECT kind, application_id, user_id, target_id, detail FROM audit_records ORDER BY rowid')
        .all() as Record<'kind' | 'application_id' | 'user_id' | 'target_id' | 'detail', string | null>[]
    ).map(({ kind, application_id: applicationId, user_id: userId, target_id: targetId, detail }) => ({
      kind,
      applicationId,
      userId,
      targetId,
      detail: detail === null ? null : JSON.parse(detail),
    }));
  const audits = recorded().length;
  return {
    /** Events by application; an empty list means none. */
    events: () =>
      Object.fromEntries(
        Object.entries(applications).map(([name, id], index) => [name, eventsOf(id).slice(before[index])]),
      ),
    audits: () => recorded().slice(audits),
  };
}

/** The one event of a change for shop and forum; the club, which she has left, gets none. */
export function toldOnce(userId: string, categories: string[], more: { name?: string; changed?: string[] } = {}) {
  const told = [{ type: 'user.profile_updated', data: { userId, name: '', categories, ...more } }];
  return { shop: told, forum: told, club: [] };
}

export const SILENCE = { shop: [], forum: [], club: [] };

/** Returns the paths of the fields that an answer refuses. */
const refusedFields = ({ json }: Answer): string[] => (json.fields ?? []).map(({ path }: { path: string }) => path);

/** Expects a call to be refused, to change nothing, and to repeat nothing of what was sent. */
export async function refused(
  instance: Instance,
  call: () => Promise<Answer>,
  sent?: string,
): Promise<{ status: number; error: string; fields: string[] }> {
  const before = dumpTables(instance);
  const answer = await call();
  if (JSON.stringify(dumpTables(instance)) !== JSON.stringify(before)) throw new Error('a refusal changed something');
  if (sent !== undefined && answer.text.includes(sent)) throw new Error('a refusal repeats what was sent');
  for (const { message } of answer.json.fields ?? [])
    if (!/^[A-Z].*[.?]$/.test(message)) throw new Error(`no remedy: ${message}`);
  return { status: answer.status, error: answer.json.error, fields: refusedFields(answer) };
}

export const INVALID = (...fields: string[]) => ({ status: 400, error: 'invalid_request', fields });
export const NOT_FOUND = { status: 404, error: 'not_found', fields: [] };

/** 64 KiB: far above every field limit, and within the body limit. */
export const LONG = 'x'.repeat(64 * 1024);
