// A group of three in which nothing is wrong, for tests that break one thing.
#pragma once

#include <string>

#include "doctor/diagnosis.hh"

namespace bellwether::doctor {

// As seen by orders-0 (10.0.0.1), with its sidecar running; orders-1 and orders-2 follow it.
Facts healthy_facts();

// The same before the sidecar here was started.
Facts facts_without_sidecar();

// What the process with this number (orders-N) says in its HELLO.
GreetingFacts greeting_of(int number);

std::string id_of(int number);
std::string address_of(int number);

// All findings of one check as lines: "warning: what was seen -> the remedy".
std::string findings(const Facts& facts, const std::string& check);

}  // namespace bellwether::doctor
