/** Maps addresses to lazily loaded views. */
import type { ApplicationViewProps } from './application-view.ts';
import { useParams } from 'wouter-preact';
import { NothingHere } from './components/nothing-here.tsx';
import { lazyView } from './lazy-view.tsx';

const Overview = lazyView(async () => (await import('./views/overview/overview.tsx')).Overview);
const Users = lazyView(async () => (await import('./views/users/users.tsx')).Users);
const Import = lazyView(async () => (await import('./views/import/import.tsx')).Import);
const Grants = lazyView(async () => (await import('./views/grants/grants.tsx')).Grants);
const Keys = lazyView(async () => (await import('./views/keys/keys.tsx')).Keys);
const Gate = lazyView(async () => (await import('./views/gate/gate.tsx')).Gate);
const Webhooks = lazyView(async () => (await import('./views/webhooks/webhooks.tsx')).Webhooks);
const Activity = lazyView(async () => (await import('./views/activity/activity-view.tsx')).Activity);
const Settings = lazyView(async () => (await import('./views/settings/settings.tsx')).Settings);
const Applications = lazyView(async () => (await import('./views/applications/applications.tsx')).Applications);
const Members = lazyView(async () => (await import('./views/members/members.tsx')).Members);
const Outbox = lazyView(async () => (await import('./views/outbox/outbox.tsx')).Outbox);
const Backups = lazyView(async () => (await import('./views/backups/backups.tsx')).Backups);
const Health = lazyView(async () => (await import('./views/health/health.tsx')).Health);

export function ApplicationRoutes({ application }: ApplicationViewProps) {
  const section = (useParams()['*'] ?? 'overview').split('/')[0];
  switch (section) {
    case '':
    case 'overview':
      return <Overview application={application} />;
    case 'users':
      return <Users application={application} />;
    case 'import':
      return <Import application={application} />;
    case 'roles':
    case 'scopes':
    case 'groups':
      return <Grants key={section} application={application} kind={section} />;
    case 'keys':
      return <Keys application={application} />;
    case 'gate':
      return <Gate application={application} />;
    case 'webhooks':
      return <Webhooks application={application} />;
    case 'activity':
      return <Activity application={application} />;
    case 'settings':
      return <Settings application={application} />;
    default:
      return <NothingHere />;
  }
}

export function WorkspaceRoutes() {
  const section = (useParams()['*'] ?? 'applications').split('/')[0];
  switch (section) {
    case '':
    case 'applications':
      return <Applications />;
    case 'members':
      return <Members />;
    case 'keys':
      return <Keys />;
    case 'activity':
      return <Activity />;
    case 'outbox':
      return <Outbox />;
    case 'backups':
      return <Backups />;
    case 'health':
      return <Health />;
    default:
      return <NothingHere />;
  }
}
