# The Makefile's steps on a bare Python:  docker build -t psp . && docker run --rm psp
FROM python:3.11-slim
RUN apt-get update && apt-get install -y --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /psp
COPY . .
# With compiled modules: a container keeps none that it compiles.
RUN make install COMPILE=
CMD ["make", "demo"]
