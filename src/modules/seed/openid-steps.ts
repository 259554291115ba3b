import type { Actor } from '../../core/actor.ts';
import type { OpenIdSettingsService } from '../openid/settings.ts';
import { created, changedFields, type Site, updated } from './plan.ts';

export interface OpenIdTools {
  readonly openid: OpenIdSettingsService;
}

/** Plans an application's OpenID settings. */
export async function planOpenId({ openid }: OpenIdTools, actor: Actor, site: Site): Promise<void> {
  const { plan, wanted, place, present, open } = site;
  if (!wanted.openid) return;
  const path = `${place}.openid`;
  const problems = await openid.problemsWith(wanted.openid, present);
  for (const problem of problems) plan.problems.add(`${path}.${problem.path}`, problem.message);
  if (problems.length > 0) return;
  const { openid: input, slug } = wanted;
  const set = async () => openid.set(actor, await open(), input);
  const settings = present && (await openid.get(present));
  if (!settings?.updatedAt) return plan.add(path, [created('openid', slug, slug)], set);
  const fields = changedFields(input, { ...settings });
  if (fields.length === 0) plan.unchanged += 1;
  else plan.add(path, [updated('openid', slug, slug, fields)], set);
}
