/** Frame of the console: loads member, workspace and application, and shows the view of the address. */
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useState } from 'preact/hooks';
import { Route, Router, Switch, useLocation } from 'wouter-preact';
import { Button } from '../../pages/components/button.tsx';
import { ToastProvider } from '../../pages/components/toast.tsx';
import { addresses } from '../address.ts';
import { NothingHere } from '../components/nothing-here.tsx';
import { api, ask, type Failure, type Outcome, type Schemas } from '../api.ts';
import { allOf } from '../read-all.ts';
import { type Workspace, type ConsoleContext, ConsoleProvider } from '../console-context.tsx';
import type { Opening } from '../opening.ts';
import { TrialsProvider } from '../trials.tsx';
import { applicationEvents } from '../views/activity/source.ts';
import { ApplicationRoutes, OpenIdTrialView, preloadView, WorkspaceRoutes } from '../views.tsx';
import { TRIAL_PATH } from '../views/settings/openid-trial.ts';
import { LiveProvider } from './live.tsx';
import { isListed, onlyOne, useRailApplication } from './open-application.ts';
import { Palette } from './palette.tsx';
import { Rail } from './rail.tsx';
import { useShortcuts } from './shortcuts.tsx';
import { signOut } from './sign-out.ts';

const LAST_WORKSPACE = 'gatehouse.console.workspace';
const PAGE_SIZE = 200;

interface ConsoleData {
  readonly me: ConsoleContext['me'];
  readonly workspaces: readonly Workspace[];
  readonly applications: readonly Schemas['Application'][];
  readonly applicationsReadAt: number;
}

export function Shell({ opening }: { readonly opening: Opening }) {
  return (
    <ToastProvider>
      <Router base="/console">
        <TrialsProvider>
          <SignedIn opening={opening} />
        </TrialsProvider>
      </Router>
    </ToastProvider>
  );
}

function SignedIn({ opening }: { readonly opening: Opening }) {
  const [location] = useLocation();
  const [known, setKnown] = useState<ConsoleData | null>(() => knownIn(opening));
  const [failure, setFailure] = useState<Failure | null>(null);
  useLayoutEffect(() => {
    preloadView(location);
    if (!known) void load();
  }, []);

  /** Loads the applications that are too many for the document. */
  async function load(): Promise<void> {
    setFailure(null);
    const applications = await loadApplications();
    if (applications.ok) setKnown(knownIn({ ...opening, applications: applications.data }, performance.now()));
    else setFailure(applications);
  }

  if (failure)
    return (
      <Message title="The console could not be opened" action="Try again" onAct={load}>
        {failure.message}
      </Message>
    );
  if (!known) return <Loading />;
  if (known.workspaces.length === 0)
    return (
      <Message title="No workspace to open" action="Sign out" look="plain" onAct={signOut}>
        You are signed in as {known.me.email}, who is no longer a member of any workspace here. An owner can invite you
        again.
      </Message>
    );
  return (
    <OpenWorkspace
      known={known}
      reload={async (part) => {
        if (part === 'applications') {
          const applications = await loadApplications();
          if (!applications.ok) return;
          const applicationsReadAt = performance.now();
          setKnown((now) => now && { ...now, applications: applications.data, applicationsReadAt });
        } else {
          const workspaces = await ask(api.GET('/api/workspaces'));
          if (workspaces.ok) setKnown((now) => now && { ...now, workspaces: workspaces.data.items });
        }
      }}
    />
  );
}

/** @param applicationsReadAt by default the time at which the document was asked for. */
function knownIn({ account, workspaces, applications }: Opening, applicationsReadAt = 0): ConsoleData | null {
  if (applications === null) return null;
  const { userId, email, identity } = account;
  return { me: { userId, email, name: identity.fullName ?? '' }, workspaces, applications, applicationsReadAt };
}

/** Loads all applications, including hidden ones, for the switcher and search. */
function loadApplications(): Promise<Outcome<Schemas['Application'][]>> {
  return allOf((cursor) =>
    ask(api.GET('/api/applications', { params: { query: { include: 'hidden', limit: PAGE_SIZE, cursor } } })),
  );
}

interface OpenWorkspaceProps {
  readonly known: ConsoleData;
  readonly reload: (part: 'applications' | 'workspaces') => Promise<void>;
}

function OpenWorkspace({ known, reload }: OpenWorkspaceProps) {
  const [location, navigate] = useLocation();
  const { me, workspaces, applications, applicationsReadAt } = known;
  const [, kind, id = ''] = location.split('/');
  const application = kind === 'applications' ? (applications.find((one) => one.id === id) ?? null) : null;
  const asked = kind === 'workspaces' ? id : (application?.workspaceId ?? localStorage.getItem(LAST_WORKSPACE));
  const workspace = (workspaces.find((one) => one.id === asked) ?? workspaces[0]) as Workspace;
  const railApplication = useRailApplication(applications, workspace.id, application);
  const [isPaletteOpen, setIsPaletteOpen] = useState(false);
  const [isRailOpen, setIsRailOpen] = useState(false);
  const shortcuts = useShortcuts();

  useEffect(() => localStorage.setItem(LAST_WORKSPACE, workspace.id), [workspace.id]);
  useEffect(() => setIsRailOpen(false), [location]);
  useEffect(() => {
    if (location !== '' && location !== '/') return;
    const only = onlyOne(applications.filter(isListed));
    navigate(only ? addresses.application(only.id) : addresses.workspace(workspace.id, 'applications'), {
      replace: true,
    });
  }, [location]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // An open dialog must be answered first: it may show a one-time secret.
      if (!document.querySelector('dialog[open]:not(.palette)')) setIsPaletteOpen((isOpen) => !isOpen);
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);

  const context: ConsoleContext = {
    me,
    workspace,
    workspaces,
    applications,
    applicationsReadAt,
    reloadApplications: () => reload('applications'),
    reloadWorkspaces: () => reload('workspaces'),
  };
  return (
    <ConsoleProvider value={context}>
      <LiveProvider path={application ? applicationEvents(application.id) : null}>
        <a class="skip" href="#main">
          Go to the content
        </a>
        <div class="console" data-rail={isRailOpen ? 'open' : undefined}>
          <Rail
            application={railApplication}
            isInApplication={application !== null}
            onSearch={() => setIsPaletteOpen(true)}
            isOpen={isRailOpen}
            onToggle={() => setIsRailOpen((isOpen) => !isOpen)}
          />
          <main class="view" id="main" tabIndex={-1}>
            {workspace.role === 'member' && (
              <p class="note read-only">
                You can look around in {workspace.name}; only its admins and owners can change things.
              </p>
            )}
            <Switch>
              <Route path="/applications/:id/*?">
                {application ? <ApplicationRoutes key={application.id} application={application} /> : <NothingHere />}
              </Route>
              <Route path="/workspaces/:id/*?">
                {workspaces.some((one) => one.id === id) ? <WorkspaceRoutes key={id} /> : <NothingHere />}
              </Route>
              <Route path={TRIAL_PATH}>
                <OpenIdTrialView />
              </Route>
              <Route path="/" />
              <Route>
                <NothingHere />
              </Route>
            </Switch>
          </main>
        </div>
        {shortcuts}
        {isPaletteOpen && <Palette application={railApplication} onClose={() => setIsPaletteOpen(false)} />}
      </LiveProvider>
    </ConsoleProvider>
  );
}

function Loading() {
  return (
    <div class="console" aria-busy="true">
      <div class="rail" />
      <main class="view">
        <p class="visually-hidden" role="status">
          Loading the console
        </p>
        <div class="skeleton title" aria-hidden="true" />
      </main>
    </div>
  );
}

interface MessageProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly action: string;
  readonly look?: 'primary' | 'plain';
  readonly onAct: () => unknown;
}

/** Shown instead of the console. */
function Message({ title, children, action, look = 'primary', onAct }: MessageProps) {
  return (
    <main class="message">
      <h1>{title}</h1>
      <p class="lead" role="alert">
        {children}
      </p>
      <Button look={look} onClick={() => void onAct()}>
        {action}
      </Button>
    </main>
  );
}
