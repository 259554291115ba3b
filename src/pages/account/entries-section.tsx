/** List of addresses or companies that can be added, changed and removed. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { IconNode } from 'lucide';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { EditActions } from './edit-actions.tsx';
import type { EntryKind } from './entry-form.tsx';
import { joined } from './words.ts';

interface ShownEntry {
  readonly icon: IconNode;
  readonly title: ComponentChildren;
  /** Accessible name for its buttons. */
  readonly name: string;
  readonly details: readonly (string | null)[];
}

interface EntryEvents {
  onSaved(): void;
  onClose(): void;
}

interface EntriesSectionProps<Entry> {
  readonly id: string;
  readonly kind: EntryKind;
  /** Null while loading. */
  readonly entries: readonly Entry[] | null;
  readonly skeletons: number;
  show(entry: Entry): ShownEntry;
  removal(entry: Entry): { readonly title: string; readonly lead: ComponentChildren };
  /** @param entry null for a new one. */
  dialog(entry: Entry | null, events: EntryEvents): ComponentChildren;
  onChanged(): Promise<void>;
  onRemove(id: string): Promise<void>;
}

export function EntriesSection<Entry extends { readonly id: string }>(props: EntriesSectionProps<Entry>) {
  const { id, kind, entries, skeletons, show, removal, dialog, onChanged, onRemove } = props;
  const text = useTexts();
  const [edited, setEdited] = useState<Entry | 'new' | null>(null);
  const [removed, setRemoved] = useState<Entry | null>(null);
  return (
    <Section id={id} title={text(`account.${kind}.title`)} lead={text(`account.${kind}.lead`)}>
      {entries === null && <RowsSkeleton count={skeletons} />}
      {entries?.length === 0 && <Empty>{text(`account.${kind}.none`)}</Empty>}
      {entries && entries.length > 0 && (
        <Rows>
          {entries.map((entry) => {
            const { icon, title, name, details } = show(entry);
            return (
              <Row
                key={entry.id}
                icon={<Icon of={icon} />}
                title={title}
                detail={joined(...details)}
                action={<EditActions name={name} onEdit={() => setEdited(entry)} onRemove={() => setRemoved(entry)} />}
              />
            );
          })}
        </Rows>
      )}
      <Button id={`${kind}-add`} look="plain" onClick={() => setEdited('new')}>
        {text(`account.${kind}.add`)}
      </Button>
      {edited &&
        dialog(edited === 'new' ? null : edited, {
          onSaved() {
            setEdited(null);
            void onChanged();
          },
          onClose: () => setEdited(null),
        })}
      {removed && (
        <ConfirmDialog
          id={`remove-${kind}`}
          {...removal(removed)}
          confirmText={text('account.remove')}
          busyText={text('account.removing')}
          onConfirm={async () => {
            setRemoved(null);
            await onRemove(removed.id);
          }}
          onClose={() => setRemoved(null)}
        />
      )}
    </Section>
  );
}
