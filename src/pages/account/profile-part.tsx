import { LanguagesSection } from './languages-section.tsx';
import { LocaleForm } from './locale-form.tsx';
import { NamesForm } from './names-form.tsx';
import { PicturesSection } from './pictures-section.tsx';
import { RegionForm } from './region-form.tsx';
import { UsernameForm } from './username-form.tsx';

export function ProfilePart() {
  return (
    <>
      <PicturesSection />
      <NamesForm />
      <UsernameForm />
      <LocaleForm />
      <RegionForm />
      <LanguagesSection />
    </>
  );
}
