/** Applications of the workspace, renaming it, and creating another workspace. */
import { useLocation } from 'wouter-preact';
import { brandOf } from '../../../pages/application-brand.ts';
import { ApplicationMark } from '../../../pages/components/application-mark.tsx';
import { Checkbox } from '../../../pages/components/checkbox.tsx';
import { addresses, useFilters } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { Action } from '../../components/action.tsx';
import { Countdown } from '../../components/countdown.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Status } from '../../components/status.tsx';
import { Time } from '../../components/time.tsx';
import { useCreateDialog, useDialog } from '../../components/use-dialog.tsx';
import { listOf } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import { ApplicationForm } from './application-form.tsx';
import { GATES, STAGES } from './words.ts';
import { WorkspaceForm } from './workspace-form.tsx';

type Application = Schemas['Application'];

const COLUMNS: readonly Column<Application>[] = [
  {
    key: 'name',
    title: 'Name',
    render: (application) => (
      <span class="named">
        <ApplicationMark name={application.name} {...brandOf({ ...application, ...application.branding })} />
        <span dir="auto">{application.name}</span>
      </span>
    ),
  },
  { key: 'state', title: 'Stage', render: (application) => <State application={application} /> },
  { key: 'gate', title: 'Gate', render: ({ signinGate }) => GATES[signinGate].title, isExtra: true },
  { key: 'slug', title: 'Slug', render: ({ slug }) => <code>{slug}</code>, isExtra: true },
  { key: 'created', title: 'Created', render: ({ createdAt }) => <Time at={createdAt} />, isExtra: true },
];

export function Applications() {
  const { workspace, applications, reloadApplications, reloadWorkspaces } = useConsole();
  const [, navigate] = useLocation();
  const [filters, setFilters] = useFilters(['hidden']);
  const params = { query: { workspaceId: workspace.id } };
  const {
    button: create,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'create-application', text: 'Create application' }, () => (
    <ApplicationForm
      workspaceId={workspace.id}
      onDone={async ({ id }) => {
        await reloadApplications();
        navigate(addresses.application(id));
      }}
    />
  ));
  const renaming = useDialog(() => (
    <WorkspaceForm
      title="Rename workspace"
      name={workspace.name}
      send={(name) => ask(api.PATCH('/api/workspace', { params, body: { name } }))}
      onDone={reloadWorkspaces}
    />
  ));
  const workspaceCreation = useDialog(() => (
    <WorkspaceForm
      title="Create workspace"
      lead="It has its own applications, members and keys. You will be its owner; nobody in this workspace sees it unless invited."
      name=""
      send={(name) => ask(api.POST('/api/workspaces', { params, body: { name } }))}
      onDone={async ({ id }) => {
        await reloadWorkspaces();
        navigate(addresses.workspace(id, 'applications'));
      }}
    />
  ));
  const items = applications.filter(
    (application) =>
      application.workspaceId === workspace.id && (filters.hidden !== undefined || !application.isHidden),
  );
  return (
    <>
      <PageHead
        title="Applications"
        lead={
          <>
            What people sign in to, in <span dir="auto">{workspace.name}</span>.
          </>
        }
        actions={
          <>
            <Action id="rename-workspace" onClick={renaming.open}>
              Rename workspace
            </Action>
            <Action id="create-workspace" needs="owner" onClick={workspaceCreation.open}>
              Create workspace
            </Action>
            {create}
          </>
        }
      />
      <DataTable
        id="applications"
        label="Applications"
        list={listOf(items)}
        columns={COLUMNS}
        keyOf={({ id }) => id}
        hrefOf={({ id }) => addresses.application(id)}
        empty={
          <Empty title="Create your first application" action={emptyButton}>
            An application is what people sign in to: it has its own users, roles, keys and look. It begins as a draft
            that only members of this workspace can enter.
          </Empty>
        }
      />
      <div class="below-table">
        <Checkbox
          id="show-hidden"
          label="Show hidden applications"
          isChecked={filters.hidden !== undefined}
          onChange={(isShown) => setFilters({ hidden: isShown ? '1' : undefined })}
        />
      </div>
      {creation}
      {renaming.dialog}
      {workspaceCreation.dialog}
    </>
  );
}

function State({ application }: { readonly application: Application }) {
  const { reloadApplications } = useConsole();
  const { stage, archivedAt, deletedAt, purgeAfter, isHidden } = application;
  if (deletedAt !== null)
    return (
      <span class="state">
        <Status tone="bad">Deleted</Status>
        {purgeAfter !== null && (
          <span class="fine">
            {!isHidden ? (
              <>
                listed for another <Countdown to={purgeAfter} onEnd={reloadApplications} />
              </>
            ) : (
              'hidden; can be restored'
            )}
          </span>
        )}
      </span>
    );
  if (archivedAt !== null) return <Status tone="calm">Archived</Status>;
  const { title, tone } = STAGES[stage];
  return <Status tone={tone}>{title}</Status>;
}
