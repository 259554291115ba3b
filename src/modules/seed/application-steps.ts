/** Plans an application's own settings: first the basics, and after everything else gate and stage. */
import type { BlockList } from 'node:net';
import type { Actor } from '../../core/actor.ts';
import type { Clock } from '../../core/clock.ts';
import { normalizeEmail } from '../../core/email.ts';
import type { Principal } from '../../core/principal.ts';
import { parseReturnUrl, returnUrlRemedy } from '../../core/return-url.ts';
import { targetProblem } from '../../outbound/guarded-fetch.ts';
import { STAGES } from '../../store/applications.ts';
import { type ApplicationPatch, type ApplicationRecord, SUPPORT_EMAIL_REMEDY } from '../applications/model.ts';
import { presentApplication } from '../applications/present.ts';
import type { Applications } from '../applications/service.ts';
import type { Beta } from '../beta/service.ts';
import type { ProviderClients } from '../provider/clients.ts';
import { GOOGLE_ISSUER, isIssuer } from '../../core/issuer.ts';
import { initialRoles } from './grant-steps.ts';
import { created, changedFields, hiddenDifference, type Site, updated } from './plan.ts';

export interface ApplicationTools {
  readonly applications: Applications;
  readonly beta: Beta;
  readonly clients: ProviderClients;
  readonly clock: Clock;
  readonly isLoopbackAllowed: boolean;
  readonly allowedCidrs: BlockList;
}

/** The caller on whose behalf a document is applied. */
export interface StepActor {
  readonly actor: Actor;
  /** Null for this server itself. */
  readonly principal: Principal | null;
  readonly workspaceId: string;
}

const TEXT_FIELDS = ['returnUrls', 'sessionTtlSeconds'] as const;
const NESTED_FIELDS = ['legalUrls', 'branding'] as const;

/** Creates the application or changes its settings. @param made receives the id of a new one. */
export async function planSettings(
  { applications, clock, isLoopbackAllowed }: ApplicationTools,
  { actor, workspaceId }: StepActor,
  site: Site,
  made: (id: string) => void,
): Promise<void> {
  const { plan, wanted, place, present } = site;
  const { slug } = wanted;
  for (const [at, url] of (wanted.returnUrls ?? []).entries())
    if (!parseReturnUrl(url, isLoopbackAllowed)) plan.problems.add(`${place}.returnUrls.${at}`, returnUrlRemedy(url));
  const { supportEmail } = wanted.branding ?? {};
  if (supportEmail != null && normalizeEmail(supportEmail) === null)
    plan.problems.add(`${place}.branding.supportEmail`, SUPPORT_EMAIL_REMEDY);
  if (!present) {
    plan.add(place, [created('application', null, slug)], async () => {
      const input = { ...settingsOf(wanted), slug, name: wanted.name ?? slug };
      made((await applications.create(actor, workspaceId, input, initialRoles(wanted))).id);
    });
    return;
  }
  const fields = settingDifferences(wanted, await presentApplication(site.db.reader, present, clock.now()));
  if (fields.length === 0) plan.unchanged += 1;
  else
    plan.add(place, [updated('application', null, slug, fields)], async () => {
      await applications.update(actor, await site.open(), changedSettings(wanted, fields));
    });
}

export async function planProvider(
  { clients, isLoopbackAllowed, allowedCidrs }: ApplicationTools,
  { actor, principal }: StepActor,
  { plan, wanted, place, present, db, secrets, open }: Site,
): Promise<void> {
  const { identityProvider } = wanted;
  if (!identityProvider) return;
  const path = `${place}.identityProvider`;
  const { issuer = GOOGLE_ISSUER, clientId, clientSecret: reference, name } = identityProvider;
  const problem = targetProblem(issuer, { allowed: allowedCidrs, isLoopbackAllowed });
  if (problem !== null || !isIssuer(issuer, isLoopbackAllowed))
    return plan.problems.add(`${path}.issuer`, problem ?? 'Give the https address of an OpenID Connect issuer.');
  const clientSecret = secrets(reference.env) ?? '';
  const effective = present && (await clients.effectiveOf(db.reader, present));
  const own = effective?.source === 'application' ? effective : null;
  const input = { issuer, clientId, clientSecret, ...(name !== undefined && { name }) };
  const configure = async () => clients.configure(actor, principal, await open(), input);
  if (!own) return plan.add(path, [created('provider', wanted.slug, issuer)], configure);
  // Without a name it is shown by its issuer.
  const shownName = name?.trim() ?? undefined;
  const fields = changedFields(
    { issuer, clientId, name: shownName },
    { issuer: own.issuer, clientId: own.clientId, name: own.name },
  );
  if ((await own.secret()) !== clientSecret) fields.push(hiddenDifference('clientSecret'));
  if (fields.length === 0) plan.unchanged += 1;
  else plan.add(path, [updated('provider', wanted.slug, issuer, fields)], configure);
}

/** Plans policy, gate and stage last, so that nobody can sign in before the rest is in place. */
export function planOpening({ applications, beta }: ApplicationTools, { actor }: StepActor, site: Site): void {
  const { plan, wanted, place, present, open } = site;
  const { betaRequestPolicy: policy, signinGate: gate, stage } = wanted;
  const now = present ?? { betaRequestPolicy: 'manual', signinGate: 'public', stage: 'draft' };
  const change = (field: string, to: string) =>
    present ? [updated('application', null, wanted.slug, changedFields({ [field]: to }, { ...now }))] : [];
  if (policy !== undefined && policy !== now.betaRequestPolicy)
    plan.add(`${place}.betaRequestPolicy`, change('betaRequestPolicy', policy), async () =>
      beta.setPolicy(actor, await open(), { policy }),
    );
  if (gate !== undefined && gate !== now.signinGate)
    plan.add(`${place}.signinGate`, change('signinGate', gate), async () => beta.setGate(actor, await open(), gate));
  if (stage === undefined || stage === now.stage) return;
  if (rank(stage) < rank(now.stage))
    return plan.note(`${place}.stage`, `It stays ${now.stage}: a stage only moves forward.`);
  plan.add(`${place}.stage`, change('stage', stage), async () => {
    if ((await open()).stage === 'draft') await applications.publish(actor, await open());
    if (stage === 'live') await applications.goLive(actor, await open());
  });
}

const rank = (stage: string) => (STAGES as readonly string[]).indexOf(stage);

type Wanted = Site['wanted'];

function settingsOf({
  returnUrls,
  legalUrls,
  branding,
  account,
  signinMethods,
  sessionTtlSeconds,
}: Wanted): ApplicationPatch {
  return {
    ...(returnUrls && { returnUrls }),
    ...(legalUrls && { legalUrls }),
    ...(branding && { branding }),
    ...(account && { account }),
    ...(signinMethods && { signinMethods }),
    ...(sessionTtlSeconds !== undefined && { sessionTtlSeconds }),
  };
}

function settingDifferences(wanted: Wanted, present: ApplicationRecord) {
  const sorted = (methods: readonly string[] | undefined) => methods && [...methods].sort();
  const flat = (of: Wanted | ApplicationRecord) => ({
    name: of.name?.trim(),
    signinMethods: sorted(of.signinMethods),
    'account.parts': sorted(of.account?.parts),
    'account.fields': sorted(of.account?.fields),
    ...Object.fromEntries(TEXT_FIELDS.map((field) => [field, of[field]])),
    ...Object.fromEntries(
      NESTED_FIELDS.flatMap((field) =>
        Object.entries(of[field] ?? {}).map(([name, value]) => [
          `${field}.${name}`,
          name === 'supportEmail' && value != null ? normalizeEmail(value) : value,
        ]),
      ),
    ),
  });
  return changedFields(flat(wanted), flat(present));
}

/** Returns only the settings that differ, so that the audit record shows the actual change. */
function changedSettings(wanted: Wanted, fields: readonly { readonly field: string }[]): ApplicationPatch {
  const names = new Set(fields.map(({ field }) => field.split('.')[0]));
  const given: ApplicationPatch = { ...settingsOf(wanted), ...(wanted.name !== undefined && { name: wanted.name }) };
  return Object.fromEntries(Object.entries(given).filter(([name]) => names.has(name)));
}
