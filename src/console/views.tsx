/** Maps addresses to lazily loaded views. */
import { useParams } from 'wouter-preact';
import type { ApplicationSection, WorkspaceSection } from './address.ts';
import type { ApplicationViewProps } from './application-view.ts';
import { NothingHere } from './components/nothing-here.tsx';
import { lazyView, type LazyView } from './lazy-view.tsx';
import type { GrantKind } from './views/grants/kinds.ts';

const Grants = lazyView(async () => (await import('./views/grants/grants.tsx')).Grants);
const Keys = lazyView(async () => (await import('./views/keys/keys.tsx')).Keys);
const Activity = lazyView(async () => (await import('./views/activity/activity-view.tsx')).Activity);

const grants = (kind: GrantKind): LazyView<ApplicationViewProps> =>
  Object.assign((props: ApplicationViewProps) => <Grants key={kind} kind={kind} {...props} />, {
    preload: Grants.preload,
  });

const APPLICATION_VIEWS: Readonly<Record<ApplicationSection, LazyView<ApplicationViewProps>>> = {
  overview: lazyView(async () => (await import('./views/overview/overview.tsx')).Overview),
  users: lazyView(async () => (await import('./views/users/users.tsx')).Users),
  import: lazyView(async () => (await import('./views/import/import.tsx')).Import),
  roles: grants('roles'),
  scopes: grants('scopes'),
  groups: grants('groups'),
  keys: Keys,
  gate: lazyView(async () => (await import('./views/gate/gate.tsx')).Gate),
  webhooks: lazyView(async () => (await import('./views/webhooks/webhooks.tsx')).Webhooks),
  activity: Activity,
  settings: lazyView(async () => (await import('./views/settings/settings.tsx')).Settings),
};

const WORKSPACE_VIEWS: Readonly<Record<WorkspaceSection, LazyView<object>>> = {
  applications: lazyView(async () => (await import('./views/applications/applications.tsx')).Applications),
  members: lazyView(async () => (await import('./views/members/members.tsx')).Members),
  keys: Keys,
  activity: Activity,
  outbox: lazyView(async () => (await import('./views/outbox/outbox.tsx')).Outbox),
  backups: lazyView(async () => (await import('./views/backups/backups.tsx')).Backups),
  health: lazyView(async () => (await import('./views/health/health.tsx')).Health),
};

/** Page that an application's sign-in by OpenID Connect comes back to when it is tried out. */
export const OpenIdTrialView = lazyView(async () => (await import('./views/openid-try/openid-try.tsx')).OpenIdTry);

export function ApplicationRoutes({ application }: ApplicationViewProps) {
  const View = useView(APPLICATION_VIEWS, 'overview');
  return View ? <View application={application} /> : <NothingHere />;
}

export function WorkspaceRoutes() {
  const View = useView(WORKSPACE_VIEWS, 'applications');
  return View ? <View /> : <NothingHere />;
}

/** Loads the script of the address's view, while the shell loads what it needs. @param path below `/console`. */
export function preloadView(path: string): void {
  const [, kind, , section = ''] = path.split('/');
  if (kind === 'applications') viewOf(APPLICATION_VIEWS, section, 'overview')?.preload();
  else if (kind === 'workspaces') viewOf(WORKSPACE_VIEWS, section, 'applications')?.preload();
}

/** Returns the view of the section in the address; undefined for an unknown one. */
function useView<View>(views: Readonly<Record<string, View>>, first: string): View | undefined {
  return viewOf(views, (useParams()['*'] ?? '').split('/')[0] ?? '', first);
}

function viewOf<View>(views: Readonly<Record<string, View>>, section: string, first: string): View | undefined {
  const name = section || first;
  return Object.hasOwn(views, name) ? views[name] : undefined;
}
