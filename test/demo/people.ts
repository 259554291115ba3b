/** The people of the demo: names in many scripts, addresses, languages, places and browsers; the same at every run. */
import type { Chance } from './chance.ts';

export interface Person {
  readonly email: string;
  readonly givenName: string;
  readonly familyName: string;
  /** The name in Latin letters, as for a username. */
  readonly latin: string;
  readonly locale: string;
  readonly timezone: string;
  readonly country: string;
  readonly ip: string;
  readonly userAgent: string;
}

interface Region {
  readonly locale: string;
  readonly timezone: string;
  readonly country: string;
  /** Names; those in another script also in Latin letters, for addresses. */
  readonly given: readonly string[];
  readonly family: readonly string[];
}

const region = (place: string, given: string, family: string): Region => {
  const [locale, country, timezone] = place.split(' ') as [string, string, string];
  return { locale, country, timezone, given: given.split(' '), family: family.split(' ') };
};

/** Names as `written` or `written/latin`. */
const REGIONS: readonly Region[] = [
  region(
    'sv SE Europe/Stockholm',
    'Astrid Elsa Maja Nils Oskar',
    'Lindqvist Åkesson/akesson Bergström/bergstrom Nyström/nystrom',
  ),
  region(
    'de DE Europe/Berlin',
    'Jonas Lena Matthias Greta Jürgen/juergen',
    'Hoffmann Schröder/schroeder Weiß/weiss Krüger/krueger',
  ),
  region('en GB Europe/London', 'Amelia Oliver Isla Harry Freya', 'Whitaker Ashdown Penrose Hargreaves Quill'),
  region('en US America/New_York', 'Grace Marcus Naomi Theo Ruth', 'Delgado Okafor Whitfield Bright Kowalski'),
  region('fr FR Europe/Paris', 'Camille Léa/lea Mathieu Inès/ines Théo/theo', 'Lefèvre/lefevre Moreau Dubois Garnier'),
  region(
    'es ES Europe/Madrid',
    'Lucía/lucia Álvaro/alvaro Carmen Íñigo/inigo Marta',
    'Ibáñez/ibanez Serrano Muñoz/munoz Vidal',
  ),
  region(
    'pt-BR BR America/Sao_Paulo',
    'João/joao Beatriz Thiago Luísa/luisa Caetano',
    'Gonçalves/goncalves Araújo/araujo Figueiredo Prado',
  ),
  region(
    'it IT Europe/Rome',
    'Chiara Lorenzo Giulia Niccolò/niccolo Elena',
    'Ferraro Colombo Rinaldi Dell’Acqua/dellacqua',
  ),
  region(
    'pl PL Europe/Warsaw',
    'Zofia Łukasz/lukasz Agnieszka Michał/michal',
    'Wójcik/wojcik Kamińska/kaminska Zając/zajac Nowak',
  ),
  region(
    'cs CZ Europe/Prague',
    'Jiří/jiri Tereza Ondřej/ondrej Klára/klara',
    'Dvořák/dvorak Procházková/prochazkova Říha/riha',
  ),
  region(
    'el GR Europe/Athens',
    'Ελένη/eleni Γιώργος/giorgos Μαρία/maria Νίκος/nikos',
    'Παπαδοπούλου/papadopoulou Οικονόμου/oikonomou Γεωργίου/georgiou',
  ),
  region(
    'uk UA Europe/Kyiv',
    'Олена/olena Тарас/taras Марія/mariia Андрій/andrii',
    'Шевченко/shevchenko Коваленко/kovalenko Бондаренко/bondarenko',
  ),
  region('tr TR Europe/Istanbul', 'Zeynep Emre Ayşe/ayse Çağrı/cagri', 'Yılmaz/yilmaz Öztürk/ozturk Şahin/sahin'),
  region(
    'ja JP Asia/Tokyo',
    '陽子/yoko 健太/kenta 美咲/misaki 大輔/daisuke',
    '佐藤/sato 鈴木/suzuki 高橋/takahashi 渡辺/watanabe',
  ),
  region('zh-CN SG Asia/Singapore', '伟/wei 静怡/jingyi 秀英/xiuying 子涵/zihan', '王/wang 李/li 张/zhang 欧阳/ouyang'),
  region('ko KR Asia/Seoul', '서연/seoyeon 민준/minjun 지우/jiwoo 하은/haeun', '김/kim 이/lee 박/park 최/choi'),
  region(
    'ar AE Asia/Dubai',
    'ليلى/layla يوسف/yousef نور/noor عمر/omar',
    'الحداد/alhaddad منصور/mansour الخطيب/alkhatib',
  ),
  region('he IL Asia/Jerusalem', 'נועה/noa יונתן/yonatan תמר/tamar', 'כהן/cohen לוי/levi ברק/barak'),
  region('hi IN Asia/Kolkata', 'प्रिया/priya अर्जुन/arjun मीरा/meera रोहन/rohan', 'शर्मा/sharma अय्यर/iyer पटेल/patel'),
];

const MAIL_HOSTS = ['example.com', 'example.org', 'example.net', 'mail.example.com', 'post.example.org'];

const USER_AGENTS = [
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36 Edg/141.0.0.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 18_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 15; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Mobile Safari/537.36',
  'Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.5 Safari/605.1.15',
];

/** Networks reserved for documentation (RFC 5737). */
const NETWORKS = ['192.0.2', '198.51.100', '203.0.113'];

/** @returns people with distinct addresses. */
export function makePeople(random: Chance, count: number): Person[] {
  const taken = new Set<string>();
  return Array.from({ length: count }, (_, index): Person => {
    const { locale, timezone, country, given, family } = random.pick(REGIONS);
    const [givenName = '', givenLatin = givenName] = random.pick(given).split('/');
    const [familyName = '', familyLatin = familyName] = random.pick(family).split('/');
    const latin = `${givenLatin}.${familyLatin}`.toLowerCase();
    const host = random.pick(MAIL_HOSTS);
    let email = `${latin}@${host}`;
    for (let more = 2; taken.has(email); more += 1) email = `${latin}${more}@${host}`;
    taken.add(email);
    return {
      email,
      givenName,
      familyName,
      latin: email.slice(0, email.indexOf('@')),
      locale,
      timezone,
      country,
      ip: `${NETWORKS[index % NETWORKS.length]}.${1 + (index % 250)}`,
      userAgent: random.pick(USER_AGENTS),
    };
  });
}

/** Returns a member of the team by given and family name. */
export function colleague(name: string, place: string, ip: string): Person {
  const [givenName = '', familyName = ''] = name.split(' ');
  const [locale = '', country = '', timezone = ''] = place.split(' ');
  const email = `${givenName.toLowerCase()}@harbour.example`;
  const latin = name.toLowerCase().replace(' ', '.');
  return { email, givenName, familyName, latin, locale, country, timezone, ip, userAgent: USER_AGENTS[0]! };
}
