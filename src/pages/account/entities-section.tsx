/** The companies that the reader acts for. */
import { Building2 } from 'lucide';
import { useState } from 'preact/hooks';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { Empty, Row, Rows, RowsSkeleton, Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import type { OwnAddress, OwnEntity } from './address-api.ts';
import { nameOf } from './choices.ts';
import { EditActions } from './edit-actions.tsx';
import { EntityDialog } from './entity-dialog.tsx';

interface EntitiesSectionProps {
  /** Null while they are fetched. */
  readonly entities: readonly OwnEntity[] | null;
  readonly addresses: readonly OwnAddress[];
  onChanged(): Promise<void>;
  onRemove(id: string): Promise<void>;
}

export function EntitiesSection({ entities, addresses, onChanged, onRemove }: EntitiesSectionProps) {
  const text = useTexts();
  const [edited, setEdited] = useState<OwnEntity | 'new' | null>(null);
  const [removed, setRemoved] = useState<OwnEntity | null>(null);
  return (
    <Section id="entities" title={text('account.entity.title')} lead={text('account.entity.lead')}>
      {entities === null && <RowsSkeleton count={1} />}
      {entities?.length === 0 && <Empty>{text('account.entity.none')}</Empty>}
      {entities && entities.length > 0 && (
        <Rows>
          {entities.map((entity) => (
            <Row
              key={entity.id}
              icon={<Icon of={Building2} />}
              title={entity.legalName}
              detail={[
                entity.tradeName,
                nameOf(entity.country, 'region', text.locale),
                entity.registrationNumber,
                entity.taxId,
              ]
                .filter(Boolean)
                .join(' · ')}
              action={
                <EditActions
                  name={entity.legalName}
                  onEdit={() => setEdited(entity)}
                  onRemove={() => setRemoved(entity)}
                />
              }
            />
          ))}
        </Rows>
      )}
      <Button id="entity-add" look="plain" onClick={() => setEdited('new')}>
        {text('account.entity.add')}
      </Button>
      {edited && (
        <EntityDialog
          entity={edited === 'new' ? null : edited}
          addresses={addresses}
          onSaved={() => {
            setEdited(null);
            void onChanged();
          }}
          onClose={() => setEdited(null)}
        />
      )}
      {removed && (
        <ConfirmDialog
          id="remove-entity"
          title={text('account.entity.removeTitle', { name: removed.legalName })}
          lead={text('account.entity.removeLead')}
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
