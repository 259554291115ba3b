/** Plans a document's API keys, each identified by its token from the environment. */
import type { Actor } from '../../core/actor.ts';
import { hashSecret } from '../../core/secret.ts';
import type { Reader } from '../../db/database.ts';
import { type ApiKey, findKeyByToken, type KeyOwner } from '../../store/api-keys.ts';
import { findRetiredKeyToken } from '../../store/retired-key-tokens.ts';
import type { ApiKeys } from '../api-keys/service.ts';
import { checkSlugs, type SlugsBySection } from './grant-steps.ts';
import type { SeedKey, SeedWorkspaceKey } from './model.ts';
import { created, changedFields, type Plan, type Site, updated } from './plan.ts';

export interface KeyTools {
  readonly apiKeys: ApiKeys;
  readonly reader: Reader;
  readonly now: () => number;
}

interface Place {
  readonly plan: Plan;
  readonly path: string;
  readonly application: string | null;
  /** Null if the application is still to be created. */
  readonly owner: KeyOwner | null;
}

export async function planApplicationKeys(
  tools: KeyTools,
  actor: Actor,
  site: Site,
  workspaceId: string,
  slugs: SlugsBySection,
): Promise<void> {
  const { plan, wanted, place, present, secrets, open } = site;
  for (const [at, key] of (wanted.apiKeys ?? []).entries()) {
    const path = `${place}.apiKeys.${at}`;
    checkSlugs(site, path, slugs, key);
    const owner = present && { workspaceId, applicationId: present.id };
    const token = secrets(key.token.env) ?? '';
    await planKey(tools, actor, { plan, path, application: wanted.slug, owner }, key, token, async () => {
      const { token: _, groups, ...input } = key;
      await tools.apiKeys.createForApplication(
        actor,
        await open(),
        { ...input, ...(groups && { memberships: groups }) },
        token,
      );
    });
  }
}

/** @param idsOf looks up applications by slug when the step runs. */
export async function planWorkspaceKey(
  tools: KeyTools,
  actor: Actor,
  place: Omit<Place, 'application' | 'owner'>,
  { workspaceId, key, token }: { workspaceId: string; key: SeedWorkspaceKey; token: string },
  idsOf: (slugs: readonly string[]) => Promise<string[]>,
): Promise<void> {
  const owner = { workspaceId, applicationId: null };
  await planKey(tools, actor, { ...place, application: null, owner }, key, token, async () => {
    const { token: _, applications, ...input } = key;
    const applicationIds = applications ? await idsOf(applications) : null;
    await tools.apiKeys.createForWorkspace(actor, workspaceId, { ...input, applicationIds }, token);
  });
}

async function planKey(
  { apiKeys, reader, now }: KeyTools,
  actor: Actor,
  { plan, path, application, owner }: Place,
  wanted: SeedKey | SeedWorkspaceKey,
  token: string,
  create: () => Promise<void>,
): Promise<void> {
  const tokenHash = Buffer.from(hashSecret(token));
  const key = await findKeyByToken(reader, tokenHash);
  const { name, access = 'read', expiresAt, rateLimits } = wanted;
  const ends = expiresAt == null ? null : Date.parse(expiresAt);
  if (Number.isNaN(ends)) return plan.problems.add(`${path}.expiresAt`, 'Give an ISO 8601 time with a zone, or null.');
  if (!key) {
    const isRetired = (await findRetiredKeyToken(reader, tokenHash)) !== undefined;
    if (isRetired) return plan.problems.add(`${path}.token.env`, 'This key was rotated away; give its successor.');
    if (ends !== null && ends <= now())
      return plan.problems.add(`${path}.expiresAt`, 'Give a time in the future, or null.');
    return plan.add(path, [created('key', application, name)], create);
  }
  const problem = unfit(key, owner, access, now());
  if (problem !== null) return plan.problems.add(...at(path, problem));
  const fields = changedFields(
    { name: name.trim(), expiresAt: expiresAt === undefined ? undefined : ends, ...rateLimits },
    { ...key },
  );
  if (fields.length === 0) plan.unchanged += 1;
  else
    plan.add(path, [updated('key', application, name, fields)], async () =>
      apiKeys.update(actor, { workspaceId: key.workspaceId, applicationId: key.applicationId } as KeyOwner, key.id, {
        name,
        ...(expiresAt !== undefined && { expiresAt }),
        ...(rateLimits && { rateLimits }),
      }),
    );
}

const at = (path: string, [field, message]: readonly [string, string]) => [`${path}.${field}`, message] as const;

/** Returns why an existing key does not fit. Never says whose key it is. */
function unfit(
  key: ApiKey,
  owner: KeyOwner | null,
  access: string,
  now: number,
): readonly [field: string, message: string] | null {
  const isOwn = owner && key.workspaceId === owner.workspaceId && key.applicationId === owner.applicationId;
  if (!isOwn || key.source === 'device')
    return ['token.env', 'This key is in use elsewhere; make another with "gatehouse key".'];
  if (key.revokedAt !== null) return ['token.env', 'This key is revoked; make another with "gatehouse key".'];
  if (key.rotatedToId !== null || (key.expiresAt !== null && key.expiresAt <= now))
    return ['token.env', 'This key has ended; give its successor, or create another with "gatehouse key".'];
  return key.access === access ? null : ['access', 'A key keeps its access; make another with "gatehouse key".'];
}
