import { useAccount } from './account-context.tsx';
import { LanguagesSection } from './languages-section.tsx';
import { LocaleForm } from './locale-form.tsx';
import { NamesForm } from './names-form.tsx';
import { PicturesSection } from './pictures-section.tsx';
import { RegionForm } from './region-form.tsx';
import { UsernameForm } from './username-form.tsx';

export function ProfilePart() {
  const { isShown } = useAccount();
  return (
    <>
      {(isShown('avatar') || isShown('banner')) && <PicturesSection />}
      {isShown('names') && <NamesForm />}
      {isShown('username') && <UsernameForm />}
      {isShown('locale') && <LocaleForm />}
      {isShown('region') && <RegionForm />}
      {isShown('languages') && <LanguagesSection />}
    </>
  );
}
