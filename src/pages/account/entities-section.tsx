/** Companies the reader acts for. */
import { Building2 } from 'lucide';
import { useTexts } from '../components/texts.tsx';
import type { OwnAddress, OwnEntity } from './address-api.ts';
import { nameOf } from './choices.ts';
import { EntriesSection } from './entries-section.tsx';
import { EntityDialog } from './entity-dialog.tsx';

interface EntitiesSectionProps {
  readonly entities: readonly OwnEntity[] | null;
  readonly addresses: readonly OwnAddress[];
  onChanged(): Promise<void>;
  onRemove(id: string): Promise<void>;
}

export function EntitiesSection({ entities, addresses, ...changes }: EntitiesSectionProps) {
  const text = useTexts();
  return (
    <EntriesSection
      id="entities"
      kind="entity"
      entries={entities}
      skeletons={1}
      show={({ legalName, tradeName, country, registrationNumber, taxId }) => ({
        icon: Building2,
        title: legalName,
        name: legalName,
        details: [tradeName, nameOf(country, 'region', text.locale), registrationNumber, taxId],
      })}
      removal={({ legalName }) => ({
        title: text('account.entity.removeTitle', { name: legalName }),
        lead: text('account.entity.removeLead'),
      })}
      dialog={(entity, events) => <EntityDialog entity={entity} addresses={addresses} {...events} />}
      {...changes}
    />
  );
}
