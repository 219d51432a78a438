// SPDX-License-Identifier: Apache-2.0
// What sites.cc calls, in a file of its own: a compiler that sees it would learn which registers it keeps.
struct Ssn {
  int id;
  int state;
};
void before(Ssn&) {}
void after(Ssn&) {}
int expensive(int x) { return x; }

int main() {}
