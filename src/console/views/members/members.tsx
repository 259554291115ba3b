import { UserPlus } from 'lucide';
import { useToast } from '../../../pages/components/toast.tsx';
import { addresses, useOpen } from '../../address.ts';
import { api, ask, type Schemas } from '../../api.ts';
import { UnlistedDetail } from '../../components/absent-detail.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { ListDetail } from '../../components/list-detail.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Time } from '../../components/time.tsx';
import { useCreateDialog } from '../../components/use-dialog.tsx';
import { useListed } from '../../data.ts';
import { useConsole } from '../../console-context.tsx';
import { InviteForm } from './invite-form.tsx';
import { MemberDetail } from './member-detail.tsx';
import { ROLE_WORDS } from './roles.ts';

type Member = Schemas['Member'];

const PAGE_SIZE = 200;

export function Members() {
  const { workspace, me } = useConsole();
  const toast = useToast();
  const [open] = useOpen();
  const {
    button: invite,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'invite-member', text: 'Invite member', icon: UserPlus }, () => (
    <InviteForm
      onDone={({ email, role }) => {
        toast(`${email} is ${ROLE_WORDS[role].title.toLowerCase()} now, and was mailed.`);
        void list.reload();
      }}
    />
  ));
  const list = useListed<Member>(
    (cursor) =>
      ask(
        api.GET('/api/workspace/members', {
          params: { query: { workspaceId: workspace.id, cursor, limit: PAGE_SIZE } },
        }),
      ),
    [workspace.id],
  );
  const opened = list.items?.find(({ id }) => id === open);
  // Further pages may contain another owner, so the server decides.
  const owners = list.hasMore ? [] : (list.items ?? []).filter(({ role }) => role === 'owner');
  const isLastOwner = (member: Member) => owners.length === 1 && owners[0]?.id === member.id;

  const columns: readonly Column<Member>[] = [
    {
      key: 'email',
      title: 'E-mail',
      render: ({ email, userId }) => (
        <>
          {email}
          {userId === me.userId && <span class="fine"> (you)</span>}
        </>
      ),
    },
    { key: 'role', title: 'Role', render: ({ role }) => ROLE_WORDS[role].title },
    {
      key: 'since',
      title: 'Since',
      render: ({ createdAt }) => <Time at={createdAt} />,
      isExtra: true,
    },
  ];
  return (
    <>
      <PageHead
        title="Members"
        lead="People who work in this workspace. What they do here is in the workspace’s activity."
        actions={invite}
      />
      <ListDetail
        list={
          <DataTable
            id="members"
            label="Members"
            list={list}
            columns={columns}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => addresses.workspace(workspace.id, 'members', id)}
            open={open}
            empty={
              <Empty title="No members yet" action={emptyButton}>
                Invite the people who run applications with you. Each signs in with their own e-mail address.
              </Empty>
            }
          />
        }
        detail={
          opened ? (
            <MemberDetail key={opened.id} member={opened} isLastOwner={isLastOwner(opened)} onChanged={list.reload} />
          ) : (
            open &&
            list.items !== null && (
              <UnlistedDetail
                key={open}
                title="No such member"
                closeTo={addresses.workspace(workspace.id, 'members')}
                hasMore={list.hasMore}
              />
            )
          )
        }
      />
      {creation}
    </>
  );
}
