/** Account page with addresses, and companies the reader acts for. */
import { useEffect, useState } from 'preact/hooks';
import { failureOfCode } from '../browser/api.ts';
import { Button } from '../components/button.tsx';
import { Section } from '../components/rows.tsx';
import { useTexts } from '../components/texts.tsx';
import { useToast } from '../components/toast.tsx';
import { type OwnAddress, ADDRESSES, ENTITIES, type OwnEntity } from './address-api.ts';
import { AddressesSection } from './addresses-section.tsx';
import { useAccount } from './account-context.tsx';
import { EntitiesSection } from './entities-section.tsx';

interface Listed {
  readonly addresses: readonly OwnAddress[];
  readonly entities: readonly OwnEntity[];
}

export function AddressesPart() {
  const text = useTexts();
  const toast = useToast();
  const { api, fail, withProof, isShown } = useAccount();
  const [listed, setListed] = useState<Listed | null>(null);
  useEffect(() => void load(), []);

  async function load(): Promise<void> {
    const [addresses, entities] = await Promise.all([
      api.get<{ items: readonly OwnAddress[] }>(ADDRESSES),
      api.get<{ items: readonly OwnEntity[] }>(ENTITIES),
    ]);
    if (addresses.ok && entities.ok) setListed({ addresses: addresses.data.items, entities: entities.data.items });
    else fail(addresses.ok ? entities : addresses);
  }

  /** Removes an entry optimistically, and restores it if the request fails. */
  async function remove(path: string, id: string, done: string): Promise<void> {
    const before = listed;
    setListed((shown) => shown && without(shown, id));
    const outcome = await withProof({ purpose: 'profile' }, () => api.send('DELETE', path, { id }));
    if (outcome?.ok) {
      toast(done);
      return load();
    }
    setListed(before);
    if (outcome) fail(outcome);
  }

  /** Reauthenticates first: without it the API silently omits entries added elsewhere. */
  async function showAll(): Promise<void> {
    let isAsked = false;
    const outcome = await withProof({ purpose: 'profile' }, async () => {
      if (isAsked) return api.get(ADDRESSES);
      isAsked = true;
      return failureOfCode('reauthentication_required');
    });
    if (outcome === null) return;
    if (!outcome.ok) return fail(outcome);
    toast(text('account.elsewhere.shown'));
    await load();
  }

  return (
    <>
      {isShown('addresses') && (
        <AddressesSection
          addresses={listed?.addresses ?? null}
          onChanged={load}
          onRemove={(id) => remove(ADDRESSES, id, text('account.address.removed'))}
        />
      )}
      {isShown('entities') && (
        <EntitiesSection
          entities={listed?.entities ?? null}
          addresses={listed?.addresses ?? []}
          onChanged={load}
          onRemove={(id) => remove(ENTITIES, id, text('account.entity.removed'))}
        />
      )}
      <Section id="elsewhere" title={text('account.elsewhere.title')} lead={text('account.elsewhere.lead')}>
        <Button id="show-elsewhere" look="plain" onClick={() => void showAll()}>
          {text('account.elsewhere.show')}
        </Button>
      </Section>
    </>
  );
}

function without({ addresses, entities }: Listed, gone: string): Listed {
  return { addresses: addresses.filter(({ id }) => id !== gone), entities: entities.filter(({ id }) => id !== gone) };
}
