#!/bin/sh
# An authority and certificates for the members of a group, for their APIs or for operators, by the
# openssl program alone.
#
# usage: make_certificates.sh FOLDER HOST...
#
# Makes FOLDER/authority (ca.crt, ca.key; once, for ten years) and, for each HOST, the name or
# address by which others know it, FOLDER/HOST with tls.crt, tls.key and ca.crt.  To renew a
# certificate, run it again for its HOST: a sidecar takes the new files over by itself.  Keep
# FOLDER/authority/ca.key off the machines of the group: whoever has it passes for anybody.
#
# DAYS (90): how long a certificate is valid.
set -eu

if [ $# -lt 2 ]; then
  sed -n '/^# usage/s/^# //p' "$0" >&2
  exit 2
fi
folder=$1
shift
days=${DAYS:-90}
umask 077
authority=$folder/authority
mkdir -p "$authority"

if [ ! -f "$authority/ca.crt" ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -days 3650 \
    -subj "/CN=authority of bellwether" -addext "basicConstraints=critical,CA:TRUE,pathlen:0" \
    -addext "keyUsage=critical,keyCertSign,cRLSign" \
    -keyout "$authority/ca.key" -out "$authority/ca.crt" 2>"$authority/log" ||
    { cat "$authority/log" >&2; exit 1; }
fi

for host in "$@"; do
  case $host in
    *[!0-9A-Za-z.:_-]* | "" | authority) echo "\"$host\" is not a host" >&2; exit 2 ;;
    *:*) kind=IP ;;
    *[!0-9.]*) kind=DNS ;;
    *) kind=IP ;;
  esac
  mkdir -p "$folder/$host"
  # Made aside, and moved when it is whole; a sidecar that sees a new key beside the old certificate
  # waits for the rest.
  new=$(mktemp -d "$folder/$host/new.XXXXXX")
  {
    openssl req -new -newkey ec -pkeyopt ec_paramgen_curve:P-256 -noenc -subj "/CN=bellwether" \
      -keyout "$new/tls.key" -out "$new/request" &&
      openssl x509 -req -in "$new/request" -days "$days" -sha256 -out "$new/tls.crt" \
        -CA "$authority/ca.crt" -CAkey "$authority/ca.key" -CAcreateserial -extfile /dev/stdin <<END
subjectAltName=$kind:$host
basicConstraints=critical,CA:FALSE
keyUsage=critical,digitalSignature
extendedKeyUsage=serverAuth,clientAuth
END
  } 2>"$authority/log" || { cat "$authority/log" >&2; rm -r "$new"; exit 1; }
  cp "$authority/ca.crt" "$new/ca.crt"
  mv "$new/tls.key" "$new/tls.crt" "$new/ca.crt" "$folder/$host/"
  rm -r "$new"
  end=$(openssl x509 -in "$folder/$host/tls.crt" -noout -enddate)
  echo "$folder/$host: valid until ${end#*=}"
done
