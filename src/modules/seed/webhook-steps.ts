/** Plans a document's webhooks, identified by URL; several with one URL are matched in order. */
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import type { InstanceKey } from '../../core/instance-key.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import { listWebhooks, type Webhook } from '../../store/webhooks.ts';
import { MAX_WEBHOOKS } from '../webhooks/model.ts';
import type { Webhooks } from '../webhooks/service.ts';
import type { SeedWebhook } from './model.ts';
import { created, changedFields, hiddenDifference, type Site, updated } from './plan.ts';

export interface WebhookTools {
  readonly webhooks: Webhooks;
  readonly instanceKey: InstanceKey;
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
}

export async function planWebhooks(tools: WebhookTools, actor: Actor, site: Site): Promise<void> {
  const { plan, wanted, present, place, db } = site;
  const { webhooks = [] } = wanted;
  if (webhooks.length === 0) return;
  const known = present ? await listWebhooks(db.reader, present.id, { after: undefined, limit: MAX_WEBHOOKS }) : [];
  const left = [...known];
  for (const [at, webhook] of webhooks.entries()) {
    const path = `${place}.webhooks.${at}`;
    const problem = targetProblem(webhook.url, {
      allowed: tools.allowedCidrs,
      isLoopbackAllowed: tools.isLoopbackAllowed,
    });
    if (problem !== null) plan.problems.add(`${path}.url`, problem);
    const index = left.findIndex(({ url }) => url === webhook.url);
    const [row] = index < 0 ? [] : left.splice(index, 1);
    if (row) await planChange(tools, actor, site, path, webhook, row);
    else planNew(tools, actor, site, path, webhook);
  }
  if (left.length + webhooks.length > MAX_WEBHOOKS)
    plan.problems.add(
      `${place}.webhooks`,
      `An application has at most ${MAX_WEBHOOKS}; ${left.length} others are there.`,
    );
}

function planNew({ webhooks }: WebhookTools, actor: Actor, site: Site, path: string, webhook: SeedWebhook): void {
  const { plan, wanted, secrets, open } = site;
  const { url, events, description, status, secret } = webhook;
  const given = secret && secrets(secret.env);
  plan.add(path, [created('webhook', wanted.slug, url)], async (told) => {
    const application = await open();
    const input = { url, events, ...(description !== undefined && { description }) };
    const { id, signingSecret } = await webhooks.create(actor, application, input, given);
    if (!given) told.signingSecrets.push({ application: wanted.slug, url, signingSecret });
    if (status === 'disabled') await webhooks.update(actor, application, id, { status });
  });
}

async function planChange(
  { webhooks, instanceKey }: WebhookTools,
  actor: Actor,
  { plan, wanted, secrets, open }: Site,
  path: string,
  { url, events, description, status, secret }: SeedWebhook,
  row: Webhook,
): Promise<void> {
  const isHeld = row.status === 'quarantined' && status === 'active';
  if (isHeld) plan.note(`${path}.status`, 'It stays in quarantine: gatehouse webhooks release lets it out.');
  const types = [...new Set(events)];
  const isSame = types.length === row.events.length && types.every((type) => row.events.includes(type));
  const patch = {
    ...(!isSame && { events: types }),
    ...(description !== undefined && description !== row.description && { description }),
    ...(status !== undefined && !isHeld && status !== row.status && { status }),
  };
  const fields = changedFields(patch, { ...row });
  const given = secret && secrets(secret.env);
  const isOther = given !== undefined && (await instanceKey.unseal('webhook', row.sealedSecret)) !== given;
  if (isOther) fields.push(hiddenDifference('secret'));
  if (fields.length === 0) plan.unchanged += 1;
  else
    plan.add(path, [updated('webhook', wanted.slug, url, fields)], async () => {
      const application = await open();
      if (Object.keys(patch).length > 0) await webhooks.update(actor, application, row.id, patch);
      if (isOther) await webhooks.rotateSecret(actor, application, row.id, given);
    });
}
