/** Sections of an application and of a workspace, in the order of the rail. */
import {
  Activity,
  AppWindow,
  DatabaseBackup,
  Boxes,
  ChartNoAxesColumn,
  HeartPulse,
  Import,
  KeyRound,
  ListChecks,
  Mail,
  Settings,
  Shield,
  Tags,
  UserRound,
  UsersRound,
  Webhook,
} from 'lucide';
import type { IconNode } from 'lucide';
import type { ApplicationSection, WorkspaceSection } from '../address.ts';

export interface Section<Name extends string> {
  readonly name: Name;
  readonly title: string;
  readonly icon: IconNode;
  readonly also?: string;
}

interface SectionGroup<Name extends string> {
  readonly title: string | null;
  readonly sections: readonly Section<Name>[];
}

export const APPLICATION_SECTIONS: readonly SectionGroup<ApplicationSection>[] = [
  {
    title: null,
    sections: [
      { name: 'overview', title: 'Overview', icon: ChartNoAxesColumn, also: 'statistics charts first steps' },
      { name: 'users', title: 'Users', icon: UserRound, also: 'people members ban' },
      { name: 'import', title: 'Import and export', icon: Import, also: 'csv json migrate' },
      { name: 'activity', title: 'Activity', icon: Activity, also: 'audit log events' },
    ],
  },
  {
    title: 'Access',
    sections: [
      { name: 'gate', title: 'Gate and allowlist', icon: ListChecks, also: 'beta waitlist invite' },
      { name: 'roles', title: 'Roles', icon: Shield },
      { name: 'scopes', title: 'Scopes', icon: Tags },
      { name: 'groups', title: 'Groups', icon: Boxes, also: 'memberships' },
    ],
  },
  {
    title: 'Build',
    sections: [
      { name: 'keys', title: 'API keys', icon: KeyRound, also: 'tokens secrets' },
      { name: 'webhooks', title: 'Webhooks', icon: Webhook, also: 'endpoints deliveries' },
      { name: 'settings', title: 'Settings', icon: Settings, also: 'branding methods lifecycle stage archive delete' },
    ],
  },
];

export const WORKSPACE_SECTIONS: readonly Section<WorkspaceSection>[] = [
  { name: 'applications', title: 'Applications', icon: AppWindow },
  { name: 'members', title: 'Members', icon: UsersRound, also: 'team invite owners admins' },
  { name: 'keys', title: 'Workspace keys', icon: KeyRound, also: 'tokens' },
  { name: 'activity', title: 'Workspace activity', icon: Activity, also: 'audit log' },
  { name: 'outbox', title: 'Outbox', icon: Mail, also: 'mail codes smtp' },
  { name: 'backups', title: 'Backups', icon: DatabaseBackup, also: 'restore schedule s3' },
  { name: 'health', title: 'Instance health', icon: HeartPulse, also: 'version database settings smtp test mail' },
];
