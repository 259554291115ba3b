import { useSearch } from 'wouter-preact';
import { addresses, useOpen, withSearch } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { UnlistedDetail } from '../../components/absent-detail.tsx';
import { type Column, DataTable } from '../../components/data-table.tsx';
import { Empty } from '../../components/empty.tsx';
import { count } from '../../components/format.ts';
import { ListDetail } from '../../components/list-detail.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Time } from '../../components/time.tsx';
import { useCreateDialog } from '../../components/use-dialog.tsx';
import { useListed } from '../../data.ts';
import type { ApplicationViewProps } from '../../application-view.ts';
import { GrantDetail } from './grant-detail.tsx';
import { GrantForm } from './grant-form.tsx';
import { type GrantKind, GRANT_WORDS, grantCalls } from './kinds.ts';

type Grant = Schemas['Grant'];

const COLUMNS: readonly Column<Grant>[] = [
  { key: 'name', title: 'Name', render: ({ name }) => <span dir="auto">{name}</span> },
  { key: 'slug', title: 'Slug', render: ({ slug }) => <code>{slug}</code> },
  { key: 'people', title: 'People', render: ({ people = 0 }) => count(people), isNumeric: true },
  {
    key: 'default',
    title: 'Given to',
    render: ({ isDefault }) => (isDefault ? 'Everybody new' : 'By hand'),
    isExtra: true,
  },
  { key: 'updated', title: 'Changed', render: ({ updatedAt }) => <Time at={updatedAt} />, isExtra: true },
];

export function Grants({ application, kind }: ApplicationViewProps & { readonly kind: GrantKind }) {
  const words = GRANT_WORDS[kind];
  const calls = grantCalls(kind, application.id);
  const search = useSearch();
  const [open] = useOpen();
  const list = useListed<Grant>((cursor) => calls.listCounted(cursor), [application.id, kind]);
  const {
    button: add,
    emptyButton,
    dialog: creation,
  } = useCreateDialog({ id: 'add-grant', text: words.add }, () => (
    <GrantForm kind={kind} grant={null} send={calls.create} onDone={list.reload} />
  ));
  const listAddress = withSearch(addresses.application(application.id, kind), search);
  const opened = list.items?.find(({ id }) => id === open);

  return (
    <>
      <PageHead title={words.title} lead={words.lead} actions={add} />
      <ListDetail
        list={
          <DataTable
            id="grants"
            label={words.title}
            list={list}
            columns={COLUMNS}
            keyOf={({ id }) => id}
            hrefOf={({ id }) => withSearch(addresses.application(application.id, kind, id), search)}
            open={open}
            empty={
              <Empty title={words.emptyTitle} action={emptyButton}>
                {words.emptyLead}
              </Empty>
            }
          />
        }
        detail={
          opened ? (
            <GrantDetail
              key={opened.id}
              application={application}
              kind={kind}
              grant={opened}
              closeTo={listAddress}
              onChanged={list.reload}
            />
          ) : (
            open &&
            list.items !== null && (
              <UnlistedDetail key={open} title={`No such ${words.one}`} closeTo={listAddress} hasMore={list.hasMore} />
            )
          )
        }
      />
      {creation}
    </>
  );
}
