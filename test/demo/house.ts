/** The two workspaces of the demo with their applications, roles, keys and webhooks, as their team sets them up over time. */
import { DAY, HOUR, isoTime } from '../../src/core/clock.ts';
import { FAILING, GONE, HEALTHY } from './receivers.ts';
import { type Colleague, TEAM, type Team } from './team.ts';
import type { Past } from './past.ts';
import type { Timeline } from './timeline.ts';

export interface DemoApplication {
  readonly id: string;
  readonly clientId: string;
}

/** Ids and paths for the console; filled during the story. */
export interface House {
  readonly workspaces: { harbour: string; lighthouse: string };
  readonly applications: Record<'harbour' | 'staff' | 'atlas' | 'pier' | 'beacon', DemoApplication>;
  readonly keys: Record<'backend' | 'tools', { id: string; token: string }>;
  readonly webhooks: Record<'healthy' | 'failing' | 'quarantined', string>;
  /** A role with many holders. */
  roleId: string;
}

const LEGAL = {
  terms: 'https://harbour.example/terms',
  privacy: 'https://harbour.example/privacy',
  imprint: 'https://harbour.example/imprint',
};

type Grants = readonly (readonly [slug: string, name: string, description: string])[];

const GRANTS: Readonly<Record<'roles' | 'scopes' | 'memberships', Grants>> = {
  roles: [
    ['editor', 'Editor', 'Writes and publishes guides.'],
    ['moderator', 'Moderator', 'Looks after reviews and reports.'],
    ['billing', 'Billing', 'Sees invoices and pays them.'],
  ],
  scopes: [
    ['orders:read', 'Read orders', 'Looks at orders.'],
    ['orders:write', 'Change orders', 'Makes, changes and cancels orders.'],
    ['reports:read', 'Read reports', 'Opens the weekly reports.'],
  ],
  memberships: [
    ['early-birds', 'Early birds', 'Came in the first month.'],
    ['partners', 'Partners', 'Marinas and boat yards.'],
    ['crew', 'Crew', 'People who sail for us.'],
  ],
};

/** Creates everything on the first day except the planned later changes. */
export async function build(past: Past, { as, confirmed }: Team, time: Timeline): Promise<House> {
  const of = ({ id }: DemoApplication, rest = '') => `/api/applications/${id}${rest}`;

  async function application(who: Colleague, workspaceId: string, input: object, steps: readonly string[] = []) {
    const made = await as(who, 'POST', `/api/applications?workspaceId=${workspaceId}`, input);
    for (const step of steps) await as(who, 'POST', of(made, `/${step}`), {});
    return made as DemoApplication;
  }

  const harbour = past.workspaceId;
  await as('owner', 'PATCH', '/api/workspace', { name: 'Harbour' });
  await as('owner', 'POST', '/api/workspace/members', { email: TEAM.admin.email, role: 'admin' });
  const main = await application('owner', harbour, {
    name: 'Harbour',
    slug: 'harbour',
    branding: { accentColor: '#0f766e' },
  });
  await as('owner', 'PATCH', of(main), {
    legalUrls: LEGAL,
    returnUrls: ['https://harbour.example/signed-in', 'https://app.harbour.example/auth/return'],
  });
  for (const step of ['publish', 'go-live']) await as('owner', 'POST', of(main, `/${step}`), {});
  await as('owner', 'POST', of(main, '/signin-gate'), { gate: 'public' });
  let roleId = '';
  for (const kind of ['roles', 'scopes', 'memberships'] as const)
    for (const [slug, name, description] of GRANTS[kind]) {
      const { id } = await as('admin', 'POST', of(main, `/${kind}`), { slug, name, description });
      if (slug === 'editor') roleId = id;
    }
  past.pass(900);
  const rateLimits = { perMinute: 1200, perDay: 200_000 };
  const backend = await as('admin', 'POST', of(main, '/api-keys'), {
    name: 'Shop backend',
    access: 'read',
    rateLimits,
  });
  const tools = await as('owner', 'POST', of(main, '/api-keys'), {
    name: 'Support desk',
    access: 'full',
    roles: ['moderator'],
    scopes: ['orders:read'],
  });
  const staff = await application('admin', harbour, { name: 'Harbour Staff', slug: 'harbour-staff' }, [
    'publish',
    'go-live',
  ]);
  await as('admin', 'POST', of(staff, '/signin-gate'), { gate: 'private_beta' });
  await as('owner', 'POST', '/api/workspace/members', { email: TEAM.member.email, role: 'member' });
  const { id: lighthouse } = await as('owner', 'POST', '/api/workspaces', { name: 'Lighthouse Labs' });
  const beacon = await application('owner', lighthouse, { name: 'Beacon', slug: 'beacon' }, ['publish', 'go-live']);
  await as('owner', 'POST', of(beacon, '/signin-gate'), { gate: 'public' });
  const pier = await application('admin', harbour, { name: 'Pier 9', slug: 'pier-9' }, ['publish', 'go-live']);

  const none = { id: '', clientId: '' };
  const house: House = {
    workspaces: { harbour, lighthouse },
    applications: { harbour: main, staff, atlas: none, pier, beacon },
    keys: { backend, tools },
    webhooks: { healthy: '', failing: '', quarantined: '' },
    roleId,
  };

  time.daysAgo(48, 9.5, async () => {
    const ci = await as('admin', 'POST', of(main, '/api-keys'), { name: 'Old CI', access: 'read' });
    time.daysAgo(19, 15.2, () => as('admin', 'DELETE', of(main, `/api-keys/${ci.id}`)));
  });
  time.daysAgo(40, 10.1, () =>
    as('admin', 'POST', of(main, '/api-keys'), {
      name: 'Migration, summer',
      access: 'full',
      expiresAt: isoTime(time.endAt - 11 * DAY),
    }),
  );
  time.daysAgo(37, 8.2, () =>
    as('owner', 'POST', '/api/workspace/api-keys', { name: 'Terraform', access: 'full', rateLimits }),
  );
  time.daysAgo(36, 13.4, () =>
    as('owner', 'POST', '/api/workspace/api-keys', {
      name: 'Reporting',
      access: 'read',
      applicationIds: [main.id, staff.id],
    }),
  );
  // Maintenance behind the shop: its gate is closed meanwhile.
  time.daysAgo(33, 8.5, () => as('admin', 'POST', of(main, '/signin-gate'), { gate: 'closed' }));
  time.daysAgo(33, 17, () => as('admin', 'POST', of(main, '/signin-gate'), { gate: 'public' }));
  time.daysAgo(30, 11, () => confirmed('owner', pier.id, { kind: 'archive' }));
  time.daysAgo(29, 9.2, async () => {
    const webhook = async (url: string, events: string[], description: string) =>
      (await as('admin', 'POST', of(main, '/webhooks'), { url, events, description })).id as string;
    house.webhooks.healthy = await webhook(HEALTHY, ['*'], 'Keeps the shop’s own users in step');
    house.webhooks.failing = await webhook(FAILING, ['user.signed_in', 'user.profile_updated'], 'CRM');
    const endings = ['user.banned', 'user.unbanned', 'user.deleted', 'user.left', 'user.role_added'];
    house.webhooks.quarantined = await webhook(GONE, endings, 'Billing, to stop subscriptions');
    await as('admin', 'POST', of(main, `/webhooks/${house.webhooks.healthy}/test`), {});
  });
  time.daysAgo(30, 10, () =>
    as('owner', 'PUT', `${of(main)}/openid`, {
      redirectUris: [
        'https://wiki.harbour.example/oidc/callback',
        'https://grafana.harbour.example/login/generic_oauth',
      ],
      postLogoutRedirectUris: ['https://wiki.harbour.example/'],
    }),
  );
  time.daysAgo(24, 14, () => as('owner', 'PATCH', of(main), { sessionTtlSeconds: 1_209_600 }));
  time.daysAgo(12, 9.7, async () => {
    house.applications.atlas = await application('admin', harbour, { name: 'Atlas', slug: 'atlas' });
  });
  time.daysAgo(9, 16.3, () =>
    as('owner', 'POST', '/api/workspace/members', { email: 'priya@harbour.example', role: 'admin' }),
  );
  time.daysAgo(6, 10.4, () => as('admin', 'POST', of(main, `/webhooks/${house.webhooks.healthy}/rotate-secret`), {}));
  time.at(time.endAt - 5 * HOUR, async () => {
    const gateway = await as('admin', 'POST', of(main, '/api-keys'), { name: 'Mobile gateway', access: 'read' });
    past.pass(60);
    await as('admin', 'POST', of(main, `/api-keys/${gateway.id}/rotate-with-grace`), {});
  });
  return house;
}
