// Everything the sign-up page says.

const en = {
  title: 'Sign up',
  submit: 'Sign up',
  submitting: 'Signing up…',
  nameHint: 'As it should stand on your tickets.',
  haveAccount: 'Signed up before?',
  toSignIn: 'Sign in',
  'wrong.emailTaken': 'There is an account with this e-mail already. Sign in instead, or use another address.',
};

const ko = {
  title: '회원가입',
  submit: '회원가입',
  submitting: '가입하는 중…',
  nameHint: '티켓에 표시될 이름입니다.',
  haveAccount: '이미 가입하셨나요?',
  toSignIn: '로그인',
  'wrong.emailTaken': '이미 가입된 이메일입니다. 로그인하시거나 다른 이메일을 사용해 주세요.',
};

export const words = { en, ko };
