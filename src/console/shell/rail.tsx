/** Navigation rail: application, sections, search, workspace and account. */
import { BookOpen, ChevronsUpDown, LogOut, Menu as MenuIcon, Search } from 'lucide';
import type { ComponentChildren } from 'preact';
import { Link, useLocation } from 'wouter-preact';
import { brandOf } from '../../pages/application-brand.ts';
import { ApplicationMark } from '../../pages/components/application-mark.tsx';
import { GateMark, Icon } from '../../pages/components/icon.tsx';
import { addresses } from '../address.ts';
import type { Schemas } from '../api.ts';
import { useConsole } from '../console-context.tsx';
import { count } from '../components/format.ts';
import { useLive } from './live.tsx';
import { isListed, standingOf } from './open-application.ts';
import { APPLICATION_SECTIONS, WORKSPACE_SECTIONS, type Section } from './sections.ts';
import { signOut } from './sign-out.ts';

interface RailProps {
  /** The open application; in views of the workspace, the last one. */
  readonly application: Schemas['Application'] | null;
  readonly isInApplication: boolean;
  readonly isOpen: boolean;
  readonly onToggle: () => void;
  readonly onSearch: () => void;
}

/** Collapses to a bar on narrow screens. */
export function Rail({ application, isInApplication, isOpen, onToggle, onSearch }: RailProps) {
  const { workspace, workspaces, me } = useConsole();
  return (
    <header class="rail">
      <div class="rail-bar">
        <Link class="rail-brand" href={addresses.workspace(workspace.id, 'applications')}>
          <GateMark />
          <span class="rail-product">Gatehouse</span>
          <span class="rail-where">
            <WhereNames application={isInApplication ? application : null} />
          </span>
        </Link>
        <button
          class="icon-button"
          type="button"
          id="open-palette"
          aria-label="Search"
          title="Search (Ctrl+K)"
          onClick={onSearch}
        >
          <Icon of={Search} />
        </button>
        <button
          class="icon-button rail-toggle"
          type="button"
          aria-label="Sections"
          aria-expanded={isOpen}
          aria-controls="rail-body"
          onClick={onToggle}
        >
          <Icon of={MenuIcon} />
        </button>
      </div>
      <div class="rail-body" id="rail-body">
        <Switcher application={application} />
        {application && (
          <nav aria-label={application.name}>
            {APPLICATION_SECTIONS.map(({ title, sections }) => (
              <div class="rail-group" key={title}>
                {title && <p class="rail-title">{title}</p>}
                {sections.map((section) => (
                  <SectionLink
                    key={section.name}
                    section={section}
                    href={addresses.application(application.id, section.name)}
                    badge={section.name === 'activity' && <Unseen />}
                  />
                ))}
              </div>
            ))}
          </nav>
        )}
        <nav aria-label="Workspace" class="rail-workspace">
          <div class="rail-group">
            <p class="rail-title" dir="auto">
              {workspaces.length > 1 ? workspace.name : 'Workspace'}
            </p>
            {WORKSPACE_SECTIONS.map((section) => (
              <SectionLink
                key={section.name}
                section={section}
                href={addresses.workspace(workspace.id, section.name)}
              />
            ))}
          </div>
        </nav>
        <div class="rail-foot">
          <span class="rail-me" title={me.email} dir="auto">
            {me.email}
          </span>
          <a
            class="icon-button"
            id="documentation"
            href="/docs"
            target="_blank"
            rel="noopener"
            aria-label="Documentation"
            title="Documentation"
          >
            <Icon of={BookOpen} size={16} />
          </a>
          <button
            class="icon-button"
            type="button"
            id="sign-out"
            aria-label="Sign out"
            title="Sign out"
            onClick={() => void signOut()}
          >
            <Icon of={LogOut} size={16} />
          </button>
        </div>
      </div>
    </header>
  );
}

interface SectionLinkProps {
  readonly section: Section<string>;
  readonly href: string;
  readonly badge?: ComponentChildren;
}

function SectionLink({ section, href, badge }: SectionLinkProps) {
  const [location] = useLocation();
  // Section shown for an address without one.
  const isFirst = href === `${location}/overview` || href === `${location}/applications`;
  const isHere = isFirst || location === href || location.startsWith(`${href}/`);
  return (
    <Link class="rail-link" href={href} aria-current={isHere ? 'page' : undefined}>
      <Icon of={section.icon} size={16} />
      <span>{section.title}</span>
      {badge}
    </Link>
  );
}

function Unseen() {
  const { unseen } = useLive();
  if (unseen === 0) return null;
  return (
    <span class="badge" aria-label={`${unseen} new`}>
      {unseen > 99 ? '99+' : count(unseen)}
    </span>
  );
}

/** Names application and workspace, but never says the same twice. */
function WhereNames({ application }: Pick<RailProps, 'application'>) {
  const { workspace } = useConsole();
  const [name, below] = application
    ? [application.name, application.name === workspace.name ? 'Application' : workspace.name]
    : [workspace.name, workspace.name === 'Workspace' ? 'All applications' : 'Workspace'];
  return (
    <>
      <strong dir="auto">{name}</strong>
      <span class="fine" dir="auto">
        {below}
      </span>
    </>
  );
}

function Switcher({ application }: Pick<RailProps, 'application'>) {
  const { applications, workspace, workspaces } = useConsole();
  const close = () => document.getElementById('switcher')?.hidePopover();
  return (
    <>
      <button class="switcher" type="button" id="open-switcher" aria-haspopup="true" {...{ popovertarget: 'switcher' }}>
        {application ? (
          <ApplicationMark name={application.name} {...brandOf({ ...application, ...application.branding })} />
        ) : (
          <span class="tile" aria-hidden="true">
            {workspace.name.slice(0, 1).toUpperCase()}
          </span>
        )}
        <span class="switcher-name">
          <WhereNames application={application} />
        </span>
        <Icon of={ChevronsUpDown} size={16} />
      </button>
      <div class="menu switcher-menu" id="switcher" popover="auto" onClick={close}>
        {workspaces.map((one) => (
          <div class="menu-group" key={one.id}>
            <p class="rail-title" dir="auto">
              {one.name}
            </p>
            {applications
              .filter((listed) => listed.workspaceId === one.id && isListed(listed))
              .map((listed) => (
                <Link
                  key={listed.id}
                  href={addresses.application(listed.id)}
                  aria-current={listed.id === application?.id ? 'true' : undefined}
                >
                  <span dir="auto">{listed.name}</span>
                  <span class="fine">{standingOf(listed)}</span>
                </Link>
              ))}
            <Link href={addresses.workspace(one.id, 'applications')}>All applications of {one.name}</Link>
          </div>
        ))}
      </div>
    </>
  );
}
