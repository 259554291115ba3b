/** Detail of a role, scope or group: name, holders and deletion. */
import { Link, useLocation } from 'wouter-preact';
import { addresses } from '../../address.ts';
import type { Schemas } from '../../api.ts';
import { Action, useReport } from '../../components/action.tsx';
import { Copyable } from '../../components/copy.tsx';
import { Facts } from '../../components/facts.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { count } from '../../components/format.ts';
import { Detail } from '../../components/list-detail.tsx';
import { Time } from '../../components/time.tsx';
import { useDialog } from '../../components/use-dialog.tsx';
import { GrantForm } from './grant-form.tsx';
import { type GrantKind, GRANT_WORDS, grantCalls } from './kinds.ts';

interface GrantDetailProps {
  readonly application: Schemas['Application'];
  readonly kind: GrantKind;
  readonly grant: Schemas['Grant'];
  readonly closeTo: string;
  readonly onChanged: () => Promise<void>;
}

export function GrantDetail({ application, kind, grant, closeTo, onChanged }: GrantDetailProps) {
  const words = GRANT_WORDS[kind];
  const calls = grantCalls(kind, application.id);
  const report = useReport();
  const [, navigate] = useLocation();
  const removal = useDialog(() => (
    <FormDialog
      id="delete-grant-dialog"
      title={`Delete the ${words.one} ${grant.slug}?`}
      lead="Everybody who has it loses it at once, and every verification shows it. This cannot be undone."
      submitText={`Delete ${words.one}`}
      isDanger
      nameToType={grant.slug}
      send={() => calls.remove(grant.id, true)}
      onDone={() => {
        navigate(closeTo);
        void onChanged();
      }}
    />
  ));

  const change = useDialog(() => (
    <GrantForm
      kind={kind}
      grant={grant}
      send={({ name, description }) => calls.update(grant.id, { name, description }, false)}
      onDone={async (changed) => {
        report({ ok: true, data: changed }, `The ${words.one} ${changed.name} is changed.`);
        await onChanged();
      }}
    />
  ));

  async function toggleDefault(): Promise<void> {
    const outcome = await calls.update(grant.id, { isDefault: !grant.isDefault }, false);
    if (report(outcome, grant.isDefault ? 'New people no longer get it.' : 'Everybody new gets it from now on.'))
      await onChanged();
  }

  return (
    <Detail
      title={<span dir="auto">{grant.name}</span>}
      subtitle={<Copyable value={grant.slug} label="slug" />}
      closeTo={closeTo}
      actions={
        <>
          <Action id="change-grant" onClick={change.open}>
            {words.change}
          </Action>
          <Action onClick={toggleDefault}>
            {grant.isDefault ? 'Stop giving it to everybody new' : 'Give it to everybody new'}
          </Action>
          <Action look="danger" id="delete-grant" onClick={removal.open}>
            Delete
          </Action>
        </>
      }
    >
      <Facts
        of={[
          ['Description', grant.description],
          ['Given to', grant.isDefault ? 'Everybody new' : 'By hand, import or API'],
          [
            'People',
            <>
              {grant.people === undefined ? '' : `${count(grant.people)} `}
              {words.parameter !== null && (
                <Link
                  href={`${addresses.application(application.id, 'users')}?${words.parameter}=${encodeURIComponent(grant.slug)}`}
                >
                  Show who has it
                </Link>
              )}
            </>,
          ],
          ['Created', <Time at={grant.createdAt} />],
          ['Changed', <Time at={grant.updatedAt} />],
        ]}
      />
      {change.dialog}
      {removal.dialog}
    </Detail>
  );
}
